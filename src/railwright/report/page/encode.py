"""A million values as few bytes: each value a code, each column deflated, in base64."""

import base64
import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import Any, NamedTuple

Value = str | float | int | None
NOT_COLLECTED, NONE = 0, 1  # codes; values come after them
FIRST = 2
MOST_WORDS = 60_000  # distinct numbers that a column keeps as they are
_EXPONENTS = 30  # a number may be as small as 1e-30


class Column(NamedTuple):
    """One value for each port."""

    words: list[Value]  # [] = codes are numbers with three significant digits
    codes: bytes
    width: int  # bytes of a code

    @property
    def kind(self) -> str:
        """How the page reads its codes."""
        return "rounded" if not self.words and self.width == 2 else "words"


def column(
    values: Iterable[tuple[Value, bool | None]], count: int, most: int = MOST_WORDS
) -> Column:
    """(value, whether there is none) of each port."""
    known: dict[Value, int] = {}
    codes = array("L", bytes(array("L").itemsize * count))
    rows: list[Value] = [None] * count
    for place, (value, is_none) in enumerate(values):
        rows[place] = value
        if value is not None:
            codes[place] = known.setdefault(value, len(known) + FIRST)
        elif is_none:
            codes[place] = NONE
    words = list(known)
    if len(words) > most and all(isinstance(w, int | float) and w >= 0 for w in words):
        return Column([], packed(_rounded(rows, codes), 2), 2)
    width = 1 if len(words) + FIRST <= 1 << 8 else 2 if len(words) + FIRST <= 1 << 16 else 4
    return Column(words, packed(codes, width), width)


def _rounded(rows: Sequence[Value], codes: Sequence[int]) -> list[int]:
    return [
        rounded(float(value)) if value is not None else code
        for value, code in zip(rows, codes, strict=True)
    ]


def rounded(value: float) -> int:
    """Three significant digits in 16 bits: 2 = zero; page/web/columns.ts turns it back."""
    if value <= 0:
        return FIRST
    exponent = floor(log10(value))
    digits = round(value / 10.0 ** (exponent - 2))
    if digits == 1000:  # 999.6
        exponent, digits = exponent + 1, 100
    if exponent < -_EXPONENTS:
        return FIRST
    return min(FIRST + 1 + (exponent + _EXPONENTS) * 900 + digits - 100, (1 << 16) - 1)


def packed(codes: Sequence[int], width: int) -> bytes:
    """The high bytes of all codes, then the lower ones: so they deflate better."""
    planes = (
        bytes(code >> shift & 255 for code in codes) for shift in range(8 * (width - 1), -1, -8)
    )
    return b"".join(planes)


def block(data: bytes) -> str:
    """What stands in the file."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(deflate.compress(data) + deflate.flush()).decode("ascii")


def as_json(value: Any) -> bytes:
    """For a block; halves of a pair, which no UTF-8 has, are the page's to show."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace")


def plain_words(words: Iterable[Any]) -> list[Value]:
    """As JSON takes them."""
    return [word if isinstance(word, str | int | float) else str(word) for word in words]
