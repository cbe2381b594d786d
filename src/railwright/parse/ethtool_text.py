"""What the answers of ethtool have in common: headings that name the interface, errors, JSON."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of

# Where there is no netlink (older releases and kernels) the second form is printed. A user who is
# not root gets some of these lines before a complete answer.
_ERROR = re.compile(
    r"^(?:netlink error: ?(.*)|(Cannot get [^\n]*)|(No data available|no stats available))$",
    re.MULTILINE,
)
_JSON_START = re.compile(r"^\[\s*[{\]]", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,19}")
_MOST_INTERFACES = 4096  # no machine has more, and one is asked for at a time
_AGAIN = " again"
_BOOLEANS = {"on": True, "off": False, "yes": True, "no": False}


def refuse(text: str, otherwise: str) -> NoReturn:
    """Say why there are no rows: in the tool's own words, if it printed any."""
    errors = (next(filter(None, found), "").strip() for found in _ERROR.findall(text))
    raise NotUnderstoodError("; ".join(dict.fromkeys(filter(None, errors)))[:200] or otherwise)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; a key that comes again, with another value, is kept as `key again`.

    The first releases with JSON of a module print module_temperature twice: as a number, then with
    the limits (mended in October 2025: "module info: Fix duplicated JSON keys").
    """
    found: dict[str, object] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            found.setdefault(f"{key}{_AGAIN}", value)
    return found


# Numbers stay text: a million digits must not become a number.
_JSON = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=str, strict=False, object_pairs_hook=_unique
)


def _refuse_repeats(entry: dict[str, object]) -> None:
    """json itself would let the last of two equal keys win; below a group nothing is read."""
    groups = [group for group in entry.values() if isinstance(group, dict)]
    for key in (key for members in (entry, *groups) for key in members):
        if key.endswith(_AGAIN):
            name = key.removesuffix(_AGAIN)[:40]
            raise NotUnderstoodError(f"{name} is printed twice and differs")


def json_objects(text: str, repeats: bool = False) -> list[dict[str, object]] | None:
    """The objects of ethtool's JSON, one per interface; None where the answer is not JSON.

    Only the answers about modules may repeat a key.
    """
    start = _JSON_START.search(text)
    if start is None:
        return None
    try:
        document, _ = _JSON.raw_decode(text, start.start())
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError("JSON that cannot be read") from error
    objects = [entry for entry in document if isinstance(entry, dict) and entry]
    if not repeats:
        for entry in objects:
            _refuse_repeats(entry)
    if not objects or len(objects) > _MOST_INTERFACES:
        refuse(text, f"JSON with {len(objects)} interfaces")
    return objects


def json_text(value: object) -> str | None:
    """A JSON string as the store can hold it (an escape may have made half a surrogate pair)."""
    return text_of(value.encode("utf-8", "replace")) if isinstance(value, str) else None


def json_list(value: object) -> str | None:
    """A list of words as one text."""
    if not isinstance(value, list):
        return None
    words = [json_text(word) for word in value]
    return None if None in words else ",".join(filter(None, words))


def boolean(value: object) -> bool | None:
    """on, off, yes, no as ethtool prints them, or a boolean of its JSON; else not read."""
    if isinstance(value, bool):
        return value
    return _BOOLEANS.get(value.lower()) if isinstance(value, str) else None


def whole_number(value: object, bits: int = 63) -> int | None:
    """A number that fits the column, as text of the answer or of its JSON."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return None
    number = int(value)
    return number if number < 2**bits else None


def agreed(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Keys and what is printed for them. Two that contradict each other are no fact at all."""
    found: dict[str, str] = {}
    for key, said in pairs:
        if found.setdefault(key, said) != said:
            raise NotUnderstoodError(f"{key} is printed twice and differs")
    return found


def blocks(text: str, heading: re.Pattern[str]) -> list[tuple[str, str]]:
    """(interface, lines) of each block; what stands before the first heading has no name."""
    parts = heading.split(text)
    named = list(zip(parts[1::2], parts[2::2], strict=True))
    return named or [("", text)]


Values = dict[str, Value] | None


def values_by_netdev(
    text: str,
    heading: re.Pattern[str],
    of_text: Callable[[str], Values],
    of_json: Callable[[dict[str, object]], Values],
) -> list[tuple[str, dict[str, Value]]]:
    """What an answer says about each interface, in either form; None says nothing about it."""
    objects = json_objects(text)
    if objects is None:
        every = [(netdev, of_text(body)) for netdev, body in blocks(text, heading)]
    else:
        every = [(json_text(entry.get("ifname")) or "", of_json(entry)) for entry in objects]
    return [(netdev, values) for netdev, values in every if values is not None]


def whole_lines(text: str, complete: re.Pattern[str]) -> list[str]:
    """The lines. The last one counts without its newline only if nothing can follow in it.

    Copies often lack the last newline; where an answer was cut, 16 reads as 1.
    """
    *lines, last = text.split("\n")
    return [*lines, last] if complete.fullmatch(last.strip()) else lines


def one_per_netdev(
    table: str, found: Iterable[tuple[str, dict[str, Value]]], instance: str
) -> Iterator[Row]:
    """One row per interface; the name is the one that was asked for, else the printed one."""
    rows: dict[str, dict[str, Value]] = {}
    for printed, values in found:
        if instance and printed and printed != instance:
            raise NotUnderstoodError(f"asked about {instance}, answered about {printed[:40]}")
        if rows.setdefault(instance or printed, values) != values:
            raise NotUnderstoodError("an interface is printed twice and differs")
    return (Row(table, {"netdev": netdev, **values}) for netdev, values in rows.items())
