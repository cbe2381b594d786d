"""What mlxlink, flint, mlxfwmanager and mlxfwreset print alike: numbers, N/A, errors, addresses."""

import math
import re
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError

NOT_AVAILABLE = "N/A"

# Bounded, so that no number of a million digits is ever made.
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,19}", re.ASCII)
_ERROR = re.compile(r"^-E-[ \t]*([^\n]*)", re.MULTILINE)
_PCI = re.compile(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])", re.ASCII)

INTEGER_BITS = 31
BIGINT_BITS = 63


def none_if_na(text: str | None) -> str | None:
    """A text as printed; '' where the tool prints N/A: it looked, and there is none.

    Nothing at all behind the key is not that: the tool had no name for what it found.
    """
    return "" if text == NOT_AVAILABLE else text or None


def number(text: str | None) -> float | None:
    """A number, whole or not; None for anything else."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def whole_number(text: str | None, bits: int = BIGINT_BITS) -> int | None:
    """A count that fits so many bits; None for anything else."""
    if text is None or not _WHOLE.fullmatch(text):
        return None
    value = int(text)
    return value if value < 2**bits else None


def address(device: str) -> str:
    """A PCI address with its domain, as the kernel writes it; /dev/mst paths as they are."""
    match = _PCI.fullmatch(device)
    return f"{int(match[1] or '0', 16):04x}:{match[2].lower()}" if match else device


def errors_of(text: str) -> str:
    """What the tool says went wrong (its `-E-` lines), in at most 200 characters."""
    return "; ".join(_ERROR.findall(text)).strip()[:200]


def whole_lines(text: str) -> list[str]:
    """The lines, without a last one that may have been cut: 16 reads as 1."""
    *lines, last = text.split("\n")
    if last.endswith((" ", ")", "]", "}")):
        lines.append(last)
    return lines


def note(found: dict[str, str], key: str, value: str) -> None:
    """Remember a value. A key that is printed twice and differs is no fact at all."""
    if found.setdefault(key, value) != value:
        raise NotUnderstoodError(f"{key} is printed twice and differs")


# Numbers repeat: limits, zeros, versions of one fleet.
cached_number = lru_cache(maxsize=4096)(number)
