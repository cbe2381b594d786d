"""What the parsers of iproute2's tools (ip, rdma, devlink) share: their JSON and their lines."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from railwright.parse.base import (
    INTEGER_BITS,
    NotUnderstoodError,
    Row,
    Value,
    members_once,
    text_of,
    whole_number,
)

Entry = dict[str, object]

# What the filter on the machine puts in place of a string that may not leave it.
_DROPPED = "[dropped]"
# `[root@host ~]# rdma link` in the first line opens no list.
_JSON_START = re.compile(r"^[ \t]*(?=[\[{][ \t\n]*[\[{\]}\"])", re.MULTILINE)
# A last line without its end may have been cut: netdev eth10 reads as eth1. These ends are whole;
# the last number of a firmware version has four digits at least (mlx5: %d.%d.%04d).
_WHOLE_END = re.compile(r"(?: |\)|>|Ethernet|InfiniBand|RoCE v[12]|[0-9]\.[0-9]{1,3}\.[0-9]{4})$")

_CUT = re.compile(r"^[ \t]*\(?\.\.\.\)?[ \t]*$", re.MULTILINE)


# A launcher's tag that is still there: text_of takes it off where all lines are of one process.
_TAGGED = re.compile(
    r"^(?:\[[0-9]{1,9},[0-9]{1,9}\]<std|\([A-Za-z]\w{0,63} pid=[^)\n]{1,80}\))", re.MULTILINE
)


def _number(digits: str) -> int | str:
    """A million digits must not become a number."""
    return int(digits) if len(digits) <= 20 else digits


def _nothing(_: str) -> None:
    """A fraction or NaN: none of the tools prints one for what is read here."""


_JSON = json.JSONDecoder(
    parse_int=_number,
    parse_float=_nothing,
    parse_constant=_nothing,
    object_pairs_hook=members_once,
    strict=False,
)


def answer_text(data: bytes) -> str:
    """The answer as text. Lines of two processes are two answers, mixed."""
    text = text_of(data)
    if _TAGGED.search(text):
        raise NotUnderstoodError("the lines of several processes")
    return text


def document(text: str) -> tuple[object, str] | None:
    """The first JSON value and the text behind it; None where no line begins one."""
    start = _JSON_START.search(text)
    if start is None:
        return None
    try:
        value, end = _JSON.raw_decode(text, start.end())
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError("JSON that cannot be read") from error
    return value, text[end:]


def objects(value: object) -> list[Entry]:
    """The objects of a list, or one alone. `ip` prints an empty one for each that it leaves out."""
    entries = [value] if isinstance(value, dict) and value else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise NotUnderstoodError("JSON that is no list of objects")
    return [entry for entry in entries if entry]


def listed(text: str) -> list[Entry] | None:
    """The objects of an answer in JSON; None where it is no JSON."""
    found = document(text)
    if found is None:
        return None
    entries = objects(found[0])
    if not entries and found[1].strip():  # an error, and not an answer that says "none"
        raise no_answer(found[1])
    return entries


def no_answer(text: str) -> NotUnderstoodError:
    """An answer in which nothing is known, with its own first words."""
    return NotUnderstoodError(text.strip().partition("\n")[0][:200] or "an empty answer")


def rows_of(
    text: str, of_text: Callable[[str], Iterator[Entry]], rows: Callable[[Entry], Iterator[Row]]
) -> list[Row]:
    """The rows of an answer in either form; not understood where it holds other things only."""
    entries = listed(text)
    found = list(of_text(text)) if entries is None else entries
    made = [row for entry in found for row in rows(entry)]
    if not made and (found or entries is None):
        raise no_answer(text)
    return made


def text_in(entry: Entry, key: str) -> str | None:
    """The text at a key; None where there is none, or where it was dropped on the machine."""
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value)
    if not text.isascii() or not text.isprintable():  # such as half a surrogate pair, from escapes
        text = text_of(text.encode("utf-8", "replace"))
    return None if text == _DROPPED else text


def text_or_none(entry: Entry, key: str) -> str | None:
    """The text at a key that is printed only where there is something: '' where it is not."""
    return text_in(entry, key) if key in entry else ""


def number_in(entry: Entry, key: str, bits: int = INTEGER_BITS, lowest: int = 0) -> int | None:
    """The whole number at a key, if it fits the column."""
    return whole_number(text_in(entry, key), bits, lowest)


def texts_in(entry: Entry, key: str) -> str | None:
    """The texts of a list, with commas between them; None where there is no list."""
    value = entry.get(key)
    if not isinstance(value, list):
        return None
    texts = [text_in({key: part}, key) for part in value]
    return None if None in texts else ",".join(text for text in texts if text is not None)


def ended_lines(text: str) -> list[str]:
    """The lines without a last one that may have been cut."""
    *lines, last = text.split("\n")
    return [*lines, last] if _WHOLE_END.search(last[-40:]) else lines


def whole_lines(text: str) -> list[str]:
    """For answers of one line per thing: also without the lines that were cut by hand."""
    return [line for line in ended_lines(text) if not line.rstrip().endswith("...")]


def before_cut(block: str) -> str:
    """Of a block of lines those before `...`: what follows may be another block's."""
    return _CUT.split(block, maxsplit=1)[0]


def pairs(text: str, keys: frozenset[str]) -> Entry:
    """`key value key value`: the known keys with their values; '' where the next key follows.

    A key at the end, or before `...`, has lost its value.
    """
    return {
        word: "" if after in keys else after
        for word, after in pairwise(text.split())
        if word in keys and after != "..."
    }


def merged(rows: Iterable[Row], keys: Mapping[str, tuple[str, ...]]) -> Iterator[Row]:
    """One row per key, of all that is said about it. Two that differ are no fact at all."""
    together: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        key = (row.table, *(row.values[part] for part in keys[row.table]))
        together.setdefault(key, []).append(row)
    for same in together.values():
        yield same[0] if len(same) == 1 else Row(same[0].table, _agreed(same))


def _agreed(rows: list[Row]) -> dict[str, Value]:
    values = dict(rows[0].values)
    for row in rows[1:]:
        for name, value in row.values.items():
            if values[name] is None:
                values[name] = value
            elif value is not None and value != values[name]:
                raise NotUnderstoodError(f"{name} of one {row.table} is printed twice and differs")
    return values


def rows_of_list(text: str, rows_of: Callable[[list[Entry]], Iterator[Row]]) -> Iterator[Row]:
    """The rows of a JSON list; `[]` has none, and that is an answer."""
    entries = listed(text)
    rows = list(rows_of(entries or []))
    if not rows and (entries is None or entries):
        raise no_answer(text)
    return iter(rows)
