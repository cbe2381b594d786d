"""A million values as few bytes: each value a code, each column deflated, in base64."""

import base64
import json
import math
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

Value = str | float | int | None
NOT_COLLECTED, NONE = 0, 1  # codes; values come after them
FIRST = 2
_TYPES = {1: "B", 2: "H", 4: "I"}


def width_of(words: int) -> int:
    """Bytes of a code."""
    return 1 if words + FIRST <= 1 << 8 else 2 if words + FIRST <= 1 << 16 else 4


def packed(codes: Sequence[int], width: int) -> bytes:
    """The high bytes of all codes, then the lower ones: so they deflate better."""
    numbers = array(_TYPES[width], codes)
    if sys.byteorder == "little":
        numbers.byteswap()
    return in_planes(numbers.tobytes(), width)


def in_planes(data: bytes, width: int) -> bytes:
    """Codes, the high byte of each first, put together by their bytes."""
    return b"".join(data[plane::width] for plane in range(width))


def block(data: bytes) -> str:
    """What stands in the file."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(deflate.compress(data) + deflate.flush()).decode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> bytes:
    """For a block: JSON has no NaN (not collected), UTF-8 no halves of a pair (`?`)."""
    try:
        text = _dumped(value)
    except ValueError:
        text = _dumped(_finite(value))
    return text.encode("utf-8", "replace")


def _dumped(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )


def plain_words(words: Iterable[Any]) -> list[Value]:
    """As JSON takes them."""
    return [word if isinstance(word, str | int | float) else str(word) for word in words]
