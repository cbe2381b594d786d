"""What every parser gives and what every parser may lean on."""

import ipaddress
import re
from typing import NamedTuple, TypeVar

Value = str | int | float | bool | None
_Said = TypeVar("_Said")

INTEGER_BITS = 31
BIGINT_BITS = 63

_NUMBER = re.compile(r"(-?)(?:0x([0-9a-f]{1,16})|([0-9]{1,19}))", re.IGNORECASE | re.ASCII)
_REPLACEMENT = "\ufffd".encode()
# Colour codes reach us from tools that think they have a terminal (sudo's use_pty gives one).
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
# What mpirun (--tag-output) and Ray put before each line; the first group tells the process.
_LAUNCHER = re.compile(
    r"^(\[[0-9]{1,9},[0-9]{1,9}\](?=<std)|\([A-Za-z]\w{0,63} pid=[^)\n]{1,80}\))"
    r"(?:<std(?:out|err|diag)>:|[ ]|$)",
    re.MULTILINE,
)


class Row(NamedTuple):
    """One row of a fact table. None means *not read*; "there is none" is a value of its own."""

    table: str
    values: dict[str, Value]


class NotUnderstoodError(Exception):
    """The answer holds something, but not what this parser knows. Says why, in a few words."""


def members_once(members: list[tuple[str, _Said]]) -> dict[str, _Said]:
    """Keys and values, of text or (as `object_pairs_hook`) of JSON: the last must not just win."""
    found = dict(members)
    if len(found) < len(members):
        for key, value in members:
            if found[key] != value:
                raise NotUnderstoodError(f"{key[:40]} is printed twice and differs")
    return found


def gid_of(text: str | None) -> str | None:
    """A GID as the kernel writes it, eight groups of four hex digits; None where it is none.

    By its bytes: since Python 3.13 `exploded` ends an IPv4 address in dots.
    """
    try:
        return ipaddress.IPv6Address(text).packed.hex(":", 2) if text else None
    except ValueError:
        return None


def _without_launcher(text: str) -> str:
    """The lines of one process without its tag. Those of several are not one answer: they stay."""
    if "<std" not in text and " pid=" not in text:
        return text
    processes = {found[1] for found in _LAUNCHER.finditer(text)}
    return _LAUNCHER.sub("", text) if len(processes) == 1 else text


def text_of(data: bytes) -> str:
    """The answer as text: any bytes survive; CR, colour codes and a launcher's tags do not.

    NUL becomes the replacement character: no tool prints one, and the store cannot hold it.
    """
    # In hardly any file of sysfs. Three searches for one byte take a tenth of one for a class.
    if b"\r" in data or b"\x00" in data or b"\x1b" in data:
        # As bytes: of text that is not UTF-8 every copy takes twice the room.
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"").replace(b"\x00", _REPLACEMENT)
        data = _ANSI.sub(b"", data)
    return _without_launcher(data.decode("utf-8", errors="replace"))


def whole_number(text: str | None, bits: int = INTEGER_BITS, lowest: int = 0) -> int | None:
    """A decimal or 0x number that fits the column; None where it is missing or something else."""
    found = _NUMBER.fullmatch(text or "")
    if found is None:
        return None
    number = int(found[2], 16) if found[2] else int(found[3])
    number = -number if found[1] else number
    return number if lowest <= number < 2**bits else None
