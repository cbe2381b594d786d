"""JSON in an answer, read in one way by all parsers.

Numbers stay text, for a million digits must not become a number. A key that is printed twice and
differs is no fact at all: json itself would let the last one win.
"""

import json
import re
from typing import Any

from railwright.parse.base import NotUnderstoodError, members_once

_OBJECT = re.compile(r"^\{", re.MULTILINE)
_DECODER = json.JSONDecoder(
    parse_int=str,
    parse_float=str,
    parse_constant=str,
    object_pairs_hook=members_once,
    strict=False,
)


def json_at(text: str, at: int) -> Any:
    """The JSON value that begins there; whatever follows it is left aside."""
    try:
        return _DECODER.raw_decode(text, at)[0]
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError("JSON that cannot be read") from error


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
