"""`devlink -j dev info` (and its text): serial numbers, and firmware that runs and that is stored.

The text is a tree by indentation. Copies lose that, so it is read by its words instead: a handle
has a slash and ends with a colon, and so do the three kinds of versions.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, members_once
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    before_cut,
    document,
    ended_lines,
    merged,
    no_answer,
    text_in,
)
from railwright.parse.pci import is_address

_HANDLE = re.compile(r"^[ \t]*([a-z][a-z0-9_-]{0,31}/[^\s/]{1,128}):[ \t]*$", re.MULTILINE)
# `name value`, or a heading: `running:`. Not the error that may follow (`kernel answers: ...`).
_LINE = re.compile(
    r"^[ \t]*(?!kernel |devlink |Error)([A-Za-z][A-Za-z0-9_.-]{0,63})(?::|[ \t]+(\S[^\n]{0,199}?))"
    r"[ \t]*$",
    re.MULTILINE,
)
_MOST_PARTS = 2 * 16384  # handles and blocks; a card has at most 1,000 functions, each with two
_KINDS = ("fixed", "running", "stored")
# What the firmware of mlx5 cards gives for a version that it could not read.
_UNREADABLE = "255.255.65535"
_KEYS = {"devlink_device": ("handle",), "devlink_version": ("handle", "kind", "name")}


def _pci(handle: str) -> str | None:
    """The PCI address of `pci/0000:18:00.0`; '' on another bus."""
    bus, _, address = handle.partition("/")
    if bus != "pci":
        return ""
    return address if is_address(address) else None


def _device(handle: str, entry: Entry) -> Row:
    values: dict[str, Value] = {
        "handle": handle,
        "pci": _pci(handle),
        "driver": text_in(entry, "driver"),
        "serial_number": text_in(entry, "serial_number"),
        "board_serial_number": text_in(entry, "board.serial_number"),
    }
    return Row("devlink_device", values)


def _version(handle: str, kind: str, name: str, version: str | None) -> Row:
    readable = None if version == _UNREADABLE else version
    return Row(
        "devlink_version", {"handle": handle, "kind": kind, "name": name, "version": readable}
    )


def _object(entry: Entry, key: str) -> Entry:
    found = entry.get(key)
    return found if isinstance(found, dict) else {}


def _of_json(value: object) -> Iterator[Row]:
    info = value.get("info") if isinstance(value, dict) else None
    if not isinstance(info, dict):
        raise NotUnderstoodError("JSON without info")
    for raw_handle, entry in info.items():
        handle = text_in({"handle": raw_handle}, "handle")
        if not handle or not isinstance(entry, dict):
            continue
        yield _device(handle, entry)
        for kind in _KINDS:
            versions = _object(_object(entry, "versions"), kind)
            for name in versions:
                known = text_in({"name": name}, "name")
                if not isinstance(versions[name], str):  # 28.430 as a number reads as 28.43
                    raise NotUnderstoodError("a version that is no text")
                if known:
                    yield _version(handle, kind, known, text_in(versions, name))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Each handle with the lines below it."""
    _, *parts = _HANDLE.split("\n".join(ended_lines(text)))
    if len(parts) > _MOST_PARTS:
        raise NotUnderstoodError("more devices than a machine can have")
    for handle, block in zip(parts[::2], parts[1::2], strict=True):
        yield handle, before_cut(block)


def _of_text(text: str) -> Iterator[Row]:
    for handle, block in _blocks(text):
        kind, said, versions = "", [], []
        for name, value in _LINE.findall(block):
            if not value:
                kind = name if name in _KINDS else ""
            elif kind:
                versions.append(_version(handle, kind, name, value))
            else:
                said.append((name, value))
        yield _device(handle, members_once(said))
        yield from versions


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables devlink_device and devlink_version; no row where no driver answers: `{"info":{}}`."""
    text = answer_text(data)
    found = document(text)
    rows = list(_of_text(text) if found is None else _of_json(found[0]))
    if not rows and (found is None or found[1].strip()):
        raise no_answer(text if found is None else found[1])
    return merged(rows, _KEYS)
