"""JSON in an answer, read in one way by all parsers.

Numbers stay text, for a million digits must not become a number. A key that is printed twice and
differs is no fact at all: json itself would let the last one win.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from railwright.parse.base import NotUnderstoodError, members_once

_OBJECT = re.compile(r"^\{", re.MULTILINE)
# A bracket also begins a prompt or a log line: only before an object, a text or its end is it JSON.
_VALUE = re.compile(r"^[ \t]{0,80}(\{|\[(?=\s{0,200}[\[{\]\"]))", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]{0,80}\{", re.MULTILINE)
_DECODER = json.JSONDecoder(
    parse_int=str,
    parse_float=str,
    parse_constant=str,
    object_pairs_hook=members_once,
    strict=False,
)


def json_at(text: str, at: int) -> Any:
    """The JSON value that begins there; whatever follows it is left aside."""
    return _decoded(text, at)[0]


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError("JSON that cannot be read") from error


def json_objects(text: str) -> Iterator[dict[str, object]]:
    """All objects that begin a line, one after the other."""
    at = 0
    while (found := _INDENTED.search(text, at)) is not None:
        value, at = _decoded(text, found.end() - 1)
        yield dict(value)


def json_values(text: str) -> Iterator[object]:
    """All objects and lists that begin a line, one after the other."""
    at = 0
    while (found := _VALUE.search(text, at)) is not None:
        value, at = _decoded(text, found.start(1))
        yield value


def first_object(text: str) -> int | None:
    """Where the first line begins with an object; None where none does."""
    found = _OBJECT.search(text)
    return found.start() if found else None


def json_object(text: str) -> dict[str, object]:
    """The first object; a command echo before it and a warning after it are left aside."""
    at = first_object(text)
    if at is None:
        raise NotUnderstoodError("no JSON object")
    return dict(json_at(text, at))
