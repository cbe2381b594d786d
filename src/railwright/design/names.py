"""Parts by the names that people write."""

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeVar

from railwright.design.build import Slot
from railwright.design.host import WIDTHS, generations
from railwright.errors import UsageError
from railwright.hardware.data import Row
from railwright.hardware.parts import (
    Adapter,
    Cable,
    Fibre,
    Protocol,
    Switch,
    Transceiver,
    adapters,
    cables,
    fibres,
    switches,
    transceivers,
)

Part = TypeVar("Part", bound=Row)
# A cable's length, with gauge or material: N002, N01A, H002E26, V010E; and LL, low latency.
_LENGTH = re.compile(r"[A-Z]\d{2,3}[A-Z0-9]{0,4}|LL")
_SLOT = re.compile(r"(ocp3-)?(gen\d+x\d+(?:\+gen\d+x\d+)?)", re.IGNORECASE)
_LINK = re.compile(r"gen(\d+)x(\d+)", re.IGNORECASE)


class UnknownPartError(UsageError):
    """A name that the hardware data does not have."""


def nearest(name: str, known: Mapping[str, object]) -> list[str]:
    """The names that were most likely meant."""
    upper = {one.upper(): one for one in known}
    return [upper[one] for one in get_close_matches(name.upper(), upper, 3, 0.5)]


def find(kind: str, name: str, rows: Mapping[str, Part]) -> Part:
    """A row by its name, or by a part number that only says more: MCP7Y10-N002 is an MCP7Y10.

    One of which only the beginning is known has the name that was asked for: `fit` will not say
    of it that it does not work.
    """
    words = name.upper().split("-")
    fitting = [row for row in rows.values() if _within(row.name.upper().split("-"), words)]
    if fitting:
        row = max(fitting, key=lambda row: (row.name.count("-"), len(row.name)))
        known = row.name.upper().split("-")
        more = [word for word in words if not any(_stands_for(one, word) for one in known)]
        # What stands behind a switch's model is its fans and its system, not its ports.
        is_known = kind == "switch" or all(map(_LENGTH.fullmatch, more))
        return row if is_known else replace(row, name=name.upper())
    variants = [row.name for row in rows.values() if row.name.upper().split("-")[:-1] == words]
    if len(variants) > 1:
        raise UnknownPartError(
            f"{name!r} is ambiguous: it is sold as {' and '.join(variants)}",
            why="They support different protocols.",
            do="Add the letter, or write the whole part number.",
        )
    near = nearest(name, rows)
    raise UnknownPartError(
        f"unknown {kind} {name!r}",
        why="It is not in the hardware data.",
        do=f"Did you mean {' or '.join(near)}?"
        if near
        else f"To list them: railwright hardware {kind}",
    )


def _within(wanted: list[str], words: list[str]) -> bool:
    """Whether all words are there, in this order, the first one first.

    A single letter stands for what begins with it, MCP1650-H for MCP1650-H002E26, and two for
    what begins and ends with them, MFS1S00-HV for MFS1S00-H010V.
    """
    if wanted[0] != words[0]:
        return False
    rest = iter(words)
    return all(any(_stands_for(word, one) for one in rest) for word in wanted)


def _stands_for(word: str, given: str) -> bool:
    if word == given or len(word) > 2:
        return word == given
    return given.startswith(word[0]) and given[1:2].isdecimal() and given.endswith(word[1:])


def is_documented(name: str) -> bool:
    """Whether all of a part's name is in the hardware data; a cable of three parts has three."""
    known = {*adapters(), *switches(), *cables(), *transceivers(), *fibres()}
    return all(one in known for one in name.split("+"))


def adapter(name: str) -> Adapter:
    """An adapter by its ordering number, by the name in its firmware, its PSID or its short name.

    Those of one short name differ in cryptography and management, not in ports or slots.
    """
    # mlxconfig prints 900-9X81E-00EX-ST0_Ax: any revision.
    plain = re.sub(r"(_[A-Z][0-9X])+$", "", name.upper())
    rows = list(adapters().values())
    for row in rows:
        if plain in (row.name, row.psid, row.called, *row.also.split()):
            return row
    # And MCX755106AS-HEA_Ax: without the letter of the bracket.
    boards = [row for row in rows if plain != name.upper() and row.name.startswith(plain)]
    if len(boards) == 1:
        return boards[0]
    # The last letter of a 900-… differs between lots of one card; it is a guess all the same.
    lots = [row for row in rows if _is_lot(plain, row)]
    return replace(lots[0], name=plain) if len(lots) == 1 else find("adapter", plain, adapters())


def _is_lot(plain: str, row: Adapter) -> bool:
    if not re.fullmatch(r"900-\w{5}-\w{4}-\w{3}", plain):
        return False
    return any(one[:-1] == plain[:-1] for one in (row.name, *row.also.split()))


def switch(name: str) -> Switch:
    """A switch by its model; MSN5600 and MQM9700 are SN5600 and QM9700."""
    bare = re.sub(r"^M(?=SN|QM)", "", name.upper())
    return find("switch", bare, switches())


def cable(text: str) -> Cable:
    """A cable, or an optical link: switch module + fibre + adapter module."""
    names = text.split("+")
    if len(names) == 1:
        return find("cable", text, cables())
    if len(names) != 3:
        raise UsageError(
            f"{text!r} is not a cable",
            do="Write one part number, or three: MMA4Z00-NS+MFP7E10+MMA1Z00-NS400-T "
            "(switch module, fibre, adapter module).",
        )
    return optical(
        find("transceiver", names[0], transceivers()),
        find("fibre", names[1], fibres()),
        find("transceiver", names[2], transceivers()),
    )


def optical(at_switch: Transceiver, fibre: Fibre, at_adapter: Transceiver) -> Cable:
    """Two modules and the fibre between them, as one cable."""
    kinds = {at_switch.fibre, fibre.fibre, at_adapter.fibre}
    if len(kinds) > 1:
        raise UsageError(
            f"{at_switch.name} is {at_switch.fibre}, {fibre.name} {fibre.fibre}, "
            f"{at_adapter.name} {at_adapter.fibre}",
            why="Modules and fibre of different types do not work together.",
            do="Choose modules and fibre of the same type.",
        )
    protocols: tuple[Protocol, ...] = tuple(
        one for one in at_switch.protocols if one in at_adapter.protocols
    )
    return Cable(
        name=f"{at_switch.name}+{fibre.name}+{at_adapter.name}",
        kind="optical",
        switch_plug=at_switch.plug,
        adapter_plug=at_adapter.plug,
        legs=at_switch.engines * fibre.ways,
        lanes=min(at_switch.lanes // fibre.ways, at_adapter.lanes),
        lane_gbps=(min(at_switch.lane_gbps, at_adapter.lane_gbps),),
        protocols=protocols,
        reach_m=min(at_switch.reach_m, at_adapter.reach_m),
        switch_w=at_switch.watts,
        adapter_w=at_adapter.watts,
        source=tuple(dict.fromkeys((*at_switch.source, *fibre.source, *at_adapter.source))),
    )


def slot(text: str) -> Slot:
    """gen5x16, gen4x16+gen4x16 (two links), ocp3-gen5x16."""
    found = _SLOT.fullmatch(text)
    links = [(int(one[1]), int(one[2])) for one in _LINK.finditer(text)] if found else []
    if not found or any(one not in generations() or two not in WIDTHS for one, two in links):
        raise UsageError(
            f"{text!r} is not a slot",
            do="Write the generation and the lanes that are wired: gen5x16, gen4x8; "
            "gen4x16+gen4x16 for a card with two interfaces; ocp3-gen5x16 for OCP 3.0.",
        )
    return Slot("OCP 3.0" if found[1] else "PCIe", tuple(links))
