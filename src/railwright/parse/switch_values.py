"""What the parsers of three switch systems share: their JSON, and the values in it.

The shapes of the tables are in switch_rows. Numbers in JSON stay text until they are known to be
short: a million digits must not become a number.
"""

import re
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError, text_of
from railwright.parse.json_text import json_at
from railwright.parse.switch_rows import Rows, joined, small_number, whole_number

__all__ = ["Rows", "joined", "small_number", "whole_number"]

Node = dict[str, object]

_DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,24})?(?:[eE][-+]?[0-9]{1,2})?", re.ASCII)
# 5c:25:73:a0:01:00, 5c-25-73-a0-01-00, 5c25.73a0.0100 (EOS); Onyx writes capitals in places.
_MAC = re.compile(
    r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2}|"
    r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}"
)
_SPAN = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", re.ASCII)
_SWITCHED = {
    **dict.fromkeys(("on", "enabled", "enable", "yes", "true", "up"), True),
    **dict.fromkeys(("off", "disabled", "disable", "no", "false", "down"), False),
}
_LIST_SEPARATORS = re.compile(r"[\s,]+")
_NONE_PRINTED = frozenset({"", "-", "n/a", "none"})
_SPEED = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,2})?) ?(M|G|T)(?:b/s|bps|bit/s|)", re.ASCII)
_MBPS = {"M": 1, "G": 1_000, "T": 1_000_000}
# Words in front of an error: `Error: ...` (NVUE), `% Invalid input ...` (Onyx, EOS).
_ERROR = re.compile(r"^[ \t]*(?:Error:|ERROR:|%)[ \t]*([^\n]{1,200})", re.MULTILINE)


def first_json(text: str, start: re.Pattern[str]) -> object | None:
    """The first JSON value that begins where `start` matches; None where there is none.

    A command echo before it and a prompt after it are left aside.
    """
    found = start.search(text)
    if found is None:
        return None
    document: object = json_at(text, found.end() - 1)
    return document


def error_words(text: str) -> str:
    """What the switch said in place of an answer; '' where it said nothing of the kind."""
    return "; ".join(words.strip() for words in _ERROR.findall(text[:20_000])[:3])


def node_of(value: object) -> Node:
    """A JSON object, empty for anything else."""
    return value if isinstance(value, dict) else {}


def nodes_of(value: object) -> list[tuple[str, Node]]:
    """The objects in an object, by key."""
    return [(key, entry) for key, entry in node_of(value).items() if isinstance(entry, dict)]


def at(node: object, *path: str) -> object:
    """What stands at a place in a tree; None where there is no such place."""
    for step in path:
        if not isinstance(node, dict):
            return None
        node = node.get(step)
    return node


@lru_cache(maxsize=4096)
def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def storable(text: str) -> str:
    """A text from JSON without blanks around it. Escapes may have made what no text can hold."""
    if len(text) < 100 and _is_plain(text):
        return text.strip()
    return text_of(text.encode("utf-8", "replace")).strip()


def text_at(node: object, *path: str) -> str | None:
    """The text or number at a place; None where it is something else."""
    for step in path:
        if not isinstance(node, dict):
            return None
        node = node.get(step)
    return storable(node) if isinstance(node, str) else None


def sent(node: object, *path: str) -> str:
    """The text at a place of a neighbor's message: '' where it did not send it."""
    return text_at(node, *path) or ""


def switched(word: object) -> bool | None:
    """A setting that is on or off, in any system's words; None for other words."""
    if isinstance(word, bool):
        return word
    return _SWITCHED.get(word.strip().lower()) if isinstance(word, str) else None


def decimal(text: str | None) -> float | None:
    """A number that may have a fraction."""
    return float(text) if text is not None and _DECIMAL.fullmatch(text) else None


def colon_mac(text: str) -> str:
    """A MAC address in lower case with colons; any other text as it is."""
    lower = text.lower()
    if not _MAC.fullmatch(lower):
        return text
    digits = re.sub(r"[^0-9a-f]", "", lower)
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def is_mac(text: str) -> bool:
    """Whether this is a MAC address in one of the ways to write it."""
    return _MAC.fullmatch(text.lower()) is not None


def few(entries: list[tuple[str, Node]], most: int = 64) -> list[tuple[str, Node]]:
    """The entries of a map, which has as many as there are code points at most."""
    if len(entries) > most:
        raise NotUnderstoodError(f"a map with {len(entries)} entries")
    return entries


def number_list(text: str | None, largest: int = 7) -> list[int] | None:
    """The numbers of `0,1,2`, `0 1 2` or `0-3,5`, ascending; None where it is no such list."""
    numbers = None if text is None or len(text) > 400 else _numbers(text, largest)
    return None if numbers is None else list(numbers)


@lru_cache(maxsize=1024)
def _numbers(text: str, largest: int) -> tuple[int, ...] | None:
    if text.strip().lower() in _NONE_PRINTED:
        return ()
    numbers: set[int] = set()
    for word in _LIST_SEPARATORS.split(text.strip(" \t,")):
        span = _SPAN.fullmatch(word)
        if span is None or int(span[2] or span[1]) > largest:
            return None
        numbers.update(range(int(span[1]), int(span[2] or span[1]) + 1))
    return tuple(sorted(numbers))


def one_number(text: str | None, largest: int = 7) -> int | None:
    """A priority, queue or code point."""
    number = small_number(text)
    return number if number is not None and number <= largest else None


def speed_mbps(text: str | None) -> int | None:
    """`400G` or `100 Gbps` in Mb/s; None for auto and for what is no speed."""
    found = _SPEED.fullmatch(text or "")
    if found is None:
        return None
    speed = round(float(found[1]) * _MBPS[found[2]])
    return speed if 0 < speed < 2**31 else None


def forward_error_correction(word: str | None) -> str | None:
    """One name per code: rs, fc, none or auto; other words as printed."""
    known = {"off": "none", "disabled": "none", "no-fec": "none", "baser": "fc", "fc-fec": "fc"}
    lower = (word or "").lower()
    return known.get(lower, lower.removesuffix("-fec")) or None
