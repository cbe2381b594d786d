"""What iproute2's `dcb` prints, as text and as JSON (`-j`), brought into one shape.

Text:  a name and its values: `pfc-cap 8 macsec-bypass off`, `prio-pfc 0:off 1:off 2:off 3:on ...`
JSON:  one object: names with underscores, true for on, arrays by position, `[26,3," "]` for 26:3
"""

import re
from typing import NamedTuple

from railwright.parse.base import (
    BIGINT_BITS,
    NotUnderstoodError,
    text_of,
    whole_number,
)
from railwright.parse.json_text import first_object, json_at

Pair = tuple[str, str]  # of `3:on` 3 and on; a value without a key has its position

# The kernel knows eight priorities, traffic classes and buffers.
_EIGHT = frozenset("01234567")
_SWITCH = {"on": True, "off": False}
_SIZE = re.compile(r"([0-9]{1,10})(b|Kb|Mb|)", re.ASCII)
_UNITS = {"": 1, "b": 1, "Kb": 1024, "Mb": 1024 * 1024}


class Dcb(NamedTuple):
    """One answer: the values of each name, as printed."""

    is_json: bool
    fields: dict[str, list[Pair]]


def _word(value: object) -> str:
    """A JSON value as the text form prints it; '' for what dcb never prints."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, str):
        return ""
    # An escape may have made half a surrogate pair, which no text can hold.
    return value if value.isprintable() else text_of(value.encode("utf-8", "replace"))


def _pairs(node: object) -> list[Pair]:
    nodes = node if isinstance(node, list) else [node]
    pairs = []
    for position, entry in enumerate(nodes):
        # The third element is a blank that was meant for the text form: [26,3," "].
        if isinstance(entry, list) and len(entry) in (2, 3):
            pairs.append((_word(entry[0]), _word(entry[1])))
        else:
            pairs.append((str(position), _word(entry)))
    return pairs


def _of_json(text: str, at: int, names: frozenset[str]) -> Dcb:
    document = json_at(text, at)
    fields = {name: _pairs(node) for name, node in document.items() if name in names}
    if document and not fields:
        raise NotUnderstoodError("JSON of another object")
    return Dcb(is_json=True, fields=fields)


def _of_line(words: list[str], names: frozenset[str]) -> list[tuple[str, list[Pair]]]:
    """The names of one line, each with its values. The first word is a name."""
    found: list[tuple[str, list[Pair]]] = []
    for word in words:
        name = word.replace("-", "_")
        if name in names:
            found.append((name, []))
            continue
        values = found[-1][1]
        key, colon, value = word.partition(":")
        values.append((key, value) if colon else (str(len(values)), word))
    return found


def _of_text(text: str, names: frozenset[str]) -> Dcb:
    fields: dict[str, list[Pair]] = {}
    for line in text.split("\n"):
        words = line.split()
        if not words or words[0].replace("-", "_") not in names:
            continue
        for name, pairs in _of_line(words, names):
            if fields.setdefault(name, pairs) != pairs:
                raise NotUnderstoodError(f"{name} is printed twice and differs")
    # What dcb says when it fails is all there is then: the last line carries the reason.
    last = text.strip().rpartition("\n")[2][:200]
    if not fields:
        raise NotUnderstoodError(last or "no answer")
    # Each value is followed by a blank or a newline: 918273 that was cut reads as 91.
    if not text[-1].isspace():
        raise NotUnderstoodError(f"ends without a newline, perhaps cut: {last}")
    return Dcb(is_json=False, fields=fields)


def read_dcb(data: bytes, names: frozenset[str]) -> Dcb:
    """The values of these names (spelt as in JSON); `{}` has none, which only `app` may say."""
    text = text_of(data)
    at = first_object(text)
    return _of_text(text, names) if at is None else _of_json(text, at, names)


def by_number(dcb: Dcb, name: str) -> dict[int, str]:
    """The values of an array by priority, traffic class or buffer number."""
    found: dict[int, str] = {}
    for key, value in dcb.fields.get(name, ()):
        if key in _EIGHT and found.setdefault(int(key), value) != value:
            raise NotUnderstoodError(f"{name} {key} is printed twice and differs")
    return found


def single(dcb: Dcb, name: str) -> str | None:
    """The one value of a name; None where it is not printed."""
    values = dcb.fields.get(name, [])
    return values[0][1] if len(values) == 1 else None


def switch(text: str | None) -> bool | None:
    """On or off; None where neither is printed."""
    return _SWITCH.get(text or "")


def size_in_bytes(text: str | None) -> int | None:
    """A size: JSON prints bytes, the text form 19872b, 128Kb or 4Mb in steps of 1024.

    The text form says Kb for what is round to within 16 bytes and Mb to within 1 KiB
    (iproute2, print_size): no more exact number is to be had there.
    """
    found = _SIZE.fullmatch(text or "")
    return whole_number(str(int(found[1]) * _UNITS[found[2]]), BIGINT_BITS) if found else None
