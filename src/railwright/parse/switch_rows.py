"""The rows of the switch tables that an answer of any system fills, and the numbers in them.

Facts about one thing come from several tables of one answer, so rows are gathered by their key:
each column holds the first value that was read for it.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.schema.table import tables

INTEGER_BITS = 31
BIGINT_BITS = 63
# 512 ports with 20 queues each and their counters need two thirds of this. A key such as 0-63 for
# a list of ports multiplies, so that a small answer could ask for millions.
ROW_LIMIT = 100_000
PRIORITIES = range(8)
LONGEST_NUMBER = 26  # 64 bits with thousands commas
_OF_THE_STORE = frozenset({"target", "read_at", "probe"})

_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,6}", re.ASCII)
_LANES = re.compile(r"[0-9]{1,5}(?:,[0-9]{1,5}){0,63}", re.ASCII)
# Old releases write [SCHEDULER|name], in the running databases [BUFFER_POOL_TABLE:name].
_REFERENCE = re.compile(r"\[[A-Z][A-Z0-9_]{1,60}[|:]([^|:\]]{1,200})\]")
COLOURS = ("green", "yellow", "red")
# Which packets a profile marks in place of dropping. RDMA packets are green: nothing recolours
# them on a port without a policer.
_MARKS_GREEN = {
    **dict.fromkeys(("all", "green", "green_yellow", "green_red"), True),
    **dict.fromkeys(("", "none", "yellow", "red", "yellow_red"), False),
}


class _Shape(NamedTuple):
    """A table: the columns that name the thing, and the others."""

    key: tuple[str, ...]
    others: tuple[str, ...]


@cache
def _shape(table: str) -> _Shape:
    """As the schema has it, without the columns that the store fills."""
    found = tables()[table]
    key = tuple(name for name in found.key if name not in _OF_THE_STORE)
    names = [name for name in found.column_types() if name not in _OF_THE_STORE]
    return _Shape(key, tuple(name for name in names if name not in key))


class Rows:
    """The rows of one answer, one per key, in the order in which the things were first met."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Value, ...], dict[str, Value]] = {}

    def add(self, table: str, **values: Value) -> None:
        """Remember facts about one thing. What is known already stays."""
        shape = _shape(table)
        key = (table, *(values[name] for name in shape.key))
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= ROW_LIMIT:
                raise NotUnderstoodError(f"more than {ROW_LIMIT} rows")
            row = self._rows[key] = dict.fromkeys(shape.key + shape.others)
        for name, value in values.items():
            if row[name] is None:
                row[name] = value

    def count(self, port: str, counter: str, number: int, value: int | None) -> None:
        """`add` for a counter: there are tens of thousands."""
        if ("switch_counter", port, counter, number) not in self._rows:
            self.add("switch_counter", port=port, counter=counter, number=number, value=value)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return (Row(str(key[0]), values) for key, values in self._rows.items())


@lru_cache(maxsize=4096)
def _whole(text: str) -> int | None:
    if "," in text and _COMMAS.fullmatch(text):
        text = text.replace(",", "")
    return int(text) if _WHOLE.fullmatch(text) else None


def whole_number(text: str | None, bits: int = BIGINT_BITS, lowest: int = 0) -> int | None:
    """A whole number that fits the column, with thousands commas or without; else None."""
    if text is None or len(text) > LONGEST_NUMBER:
        return None
    value = _whole(text)
    return value if value is not None and lowest <= value < 2**bits else None


def small_number(text: str | None) -> int | None:
    """A whole number for an INTEGER column."""
    return whole_number(text, INTEGER_BITS)


def lane_count(text: str | None) -> int | None:
    """How many lanes a list such as 0,1,2,3 names."""
    return text.count(",") + 1 if text and _LANES.fullmatch(text) else None


def reference(text: str) -> str:
    """The name that a field refers to."""
    match = _REFERENCE.fullmatch(text)
    return match[1] if match else text


def priorities_of(text: str) -> list[int] | None:
    """The priorities of a list such as 3,4, ascending; None where one of them is none."""
    words = [word.strip() for word in text.split(",")]
    numbers = {whole_number(word) for word in words if word}
    if not all(number in PRIORITIES for number in numbers):
        return None
    return sorted(number for number in numbers if number is not None)


def joined(numbers: list[int] | None) -> str | None:
    """Numbers as one text."""
    return None if numbers is None else ",".join(map(str, numbers))


def is_true(text: str | None) -> bool | None:
    """`true` or `false`. None for other text."""
    return {"true": True, "false": False}.get((text or "").lower())


def wred_values(fields: dict[str, str]) -> dict[str, Value]:
    """The columns of switch_wred, from all fields of a profile.

    An absent field is an answer: SAI's defaults are no marking, and no colour enabled. A profile
    that lacks wred_green_enable marks nothing (sonic-buildimage issue 4545).
    """
    values: dict[str, Value] = {
        "ecn": fields.get("ecn", "").removeprefix("ecn_"),
        "threshold_mode": "absolute",
    }
    for colour in COLOURS:
        values |= {
            f"{colour}_enabled": is_true(fields.get(f"wred_{colour}_enable", "false")),
            f"{colour}_minimum_bytes": whole_number(fields.get(f"{colour}_min_threshold")),
            f"{colour}_maximum_bytes": whole_number(fields.get(f"{colour}_max_threshold")),
            f"{colour}_probability_percent": small_number(fields.get(f"{colour}_drop_probability")),
        }
    return values


def marks_green(ecn: Value) -> bool | None:
    """Whether green packets are marked; None for a word that is not known."""
    return _MARKS_GREEN.get(str(ecn))


def buffer_profile_values(fields: dict[str, str]) -> dict[str, Value]:
    """The columns of switch_buffer_profile, but for its name and its pool."""
    return {
        "size_bytes": whole_number(fields.get("size")),
        "xon_bytes": whole_number(fields.get("xon")),
        "xon_offset_bytes": whole_number(fields.get("xon_offset")),
        "xoff_bytes": whole_number(fields.get("xoff")),
        # alpha is a power of two, and -1 means a half
        "dynamic_threshold": whole_number(fields.get("dynamic_th"), INTEGER_BITS, -(2**31)),
        "static_threshold_bytes": whole_number(fields.get("static_th")),
        "headroom_type": fields.get("headroom_type", ""),
        "packet_discard_action": fields.get("packet_discard_action", ""),
    }


def buffer_pool_values(fields: dict[str, str]) -> dict[str, Value]:
    """The columns of switch_buffer_pool, but for its name."""
    percent = small_number(fields.get("percentage"))
    return {
        "direction": fields.get("type"),
        "mode": fields.get("mode"),
        "size_bytes": whole_number(fields.get("size")),
        "size_percent": None if percent is None else float(percent),
        "xoff_bytes": whole_number(fields.get("xoff")),
    }
