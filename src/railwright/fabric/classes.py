"""All hops of a fabric as classes: ports of one tier and direction that do the same are one.

Made of the facts, and of `end_said`: what rules find at each end (check/end_said.sql).
"""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.fabric.ends import CLASS_FACT
from railwright.store.duck import read_sql

_HOPS = read_sql(__file__, "hops.sql")


class HopClass(NamedTuple):
    """Ports that do the same."""

    tier: int | None
    facing: str | None
    system: str | None
    trust: str | None
    dscp_classes: str | None
    pfc_mask: int | None
    watchdog_mask: int | None
    mtu: int | None
    speed_mbps: int | None
    fec: str | None
    does: str
    ports: int
    example: str
    switches: list[str]
    faulty: int  # ports of which rules find something
    undecided: int  # ports of which a rule cannot tell
    rules: list[str]  # those that find something


class Section(NamedTuple):
    """Ports that should be alike: of one tier, direction and system. The most come first."""

    tier: int | None
    facing: str | None
    system: str | None
    classes: list[HopClass]

    @property
    def ports(self) -> int:
        """How many there are."""
        return sum(one.ports for one in self.classes)


def priorities(mask: int | None) -> str:
    """8 -> `3`."""
    if mask is None:
        return "not read"
    return ",".join(str(bit) for bit in range(8) if mask >> bit & 1) or "none"


def spans(values: list[int]) -> str:
    """[24, 25, 26, 48] -> `24-26,48`."""
    found: list[list[int]] = []
    for value in values:
        if found and value == found[-1][-1] + 1:
            found[-1].append(value)
        else:
            found.append([value])
    return ",".join(str(s[0]) if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in found)


def sorting(one: HopClass) -> str:
    """Which DSCP values are lossless."""
    if one.trust in ("pcp", "port"):
        return f"trust {one.trust}"
    if one.trust is None or not one.dscp_classes:
        return f"trust {one.trust or 'not read'}, DSCP map not read"
    parts = []
    for number in range(8):
        values = [d for d, char in enumerate(one.dscp_classes) if char == str(number)]
        if values and (one.pfc_mask or 0) >> number & 1:
            parts.append(f"DSCP {spans(values)} -> class {number}")
    return ", ".join([f"trust {one.trust}", *parts])


def words(one: HopClass) -> list[str]:
    """What the ports of a class do."""
    speed = f"{one.speed_mbps // 1000}G" if one.speed_mbps else "speed not read"
    return [
        sorting(one),
        f"PFC {priorities(one.pfc_mask)}",
        f"watchdog {priorities(one.watchdog_mask)}",
        f"MTU {one.mtu or 'not read'}",
        f"{speed} {one.fec or 'FEC not read'}",
    ]


def of_classes(one: HopClass) -> list[str]:
    """What they do with each class that matters."""
    return one.does.split("; ") if one.does else []


def is_read(one: HopClass) -> bool:
    """Whether all is known that decides about packets."""
    return None not in (one.trust, one.dscp_classes, one.pfc_mask, one.mtu, one.tier, one.facing)


def moved(one: HopClass, usual: HopClass) -> str:
    """In which DSCP values two maps differ."""
    own, other = one.dscp_classes or "", usual.dscp_classes or ""
    if len(own) != 64 or len(other) != 64 or own == other:
        return ""
    values = [dscp for dscp in range(64) if own[dscp] != other[dscp]]
    if len(values) == 1:
        return f"DSCP {values[0]} -> {own[values[0]]} (most: {other[values[0]]})"
    return f"another class for DSCP {spans(values)}"


def differing(one: HopClass, usual: HopClass) -> list[str]:
    """Only what the ports of a class do otherwise than most."""
    known = [*words(usual), *of_classes(usual)]
    said = [moved(one, usual), *words(one), *of_classes(one)]
    return [word for word in said if word and word not in known]


def sections(database: duckdb.DuckDBPyConnection) -> Iterator[Section]:
    """All hops, by tier and direction."""
    found: dict[tuple[int | None, str | None, str | None], list[HopClass]] = {}
    database.execute(CLASS_FACT)
    for row in database.execute(_HOPS).fetchall():
        found.setdefault(row[:3], []).append(HopClass(*row))
    for (tier, facing, system), classes in found.items():
        yield Section(tier, facing, system, classes)
