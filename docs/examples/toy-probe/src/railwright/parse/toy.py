"""Probe `toy`: `toyctl fans`, one line per fan.

    fan 1: 4200 rpm
    fan 2: stopped

A fan that says `stopped` has the speed 0. Only a fan that is not printed has no row.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of, whole_number

_FAN = re.compile(r"fan ([0-9]{1,3}): (?:([0-9]{1,6}) rpm|stopped)", re.ASCII)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table toy_fan."""
    lines = [line.strip() for line in text_of(data).split("\n") if line.strip()]
    fans: dict[int, int | None] = {}
    for found in filter(None, map(_FAN.fullmatch, lines)):
        speed = whole_number(found[2]) if found[2] else 0
        if fans.setdefault(int(found[1]), speed) != speed:
            raise NotUnderstoodError(f"fan {int(found[1])} is printed twice and differs")
    if lines and not fans:
        raise NotUnderstoodError("no fan of toyctl")
    for fan, speed in sorted(fans.items()):
        yield Row("toy_fan", {"fan": fan, "speed_rpm": speed})
