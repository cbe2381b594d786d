"""Probe `toyos_show`: `show version`, `show ports` and `show classes` of ToyOS.

    ToyOS 1.4.2       PORT ADMIN LINK SPEED MTU  FEC        trust dscp
    Model: TOY-32     p1   up    up   400G  9216 rs544      dscp 26 -> class 3
    Serial: T0001     p2   up    down 400G  9216 off        class 3: queue 3, lossless, marks

The lines tell which command was asked, so an answer that somebody saved needs no name. What ToyOS
calls a class is the priority of PFC; it has one map for all its ports.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.switch_rows import Rows, small_number

_VERSION = re.compile(r"ToyOS ([0-9.]{1,20})", re.ASCII)
_BOX = re.compile(r"(Model|Serial): ([A-Za-z0-9-]{1,40})", re.ASCII)
_PORT = re.compile(
    r"(p[0-9]{1,3}) +(up|down) +(up|down) +([0-9]{1,4})G +([0-9]{1,5}) +([a-z0-9-]{1,10})",
    re.ASCII,
)
_TRUST = re.compile(r"trust (dscp|pcp)")
_DSCP = re.compile(r"dscp ([0-9]|[1-5][0-9]|6[0-3]) -> class ([0-7])", re.ASCII)
_CLASS = re.compile(r"class ([0-7]): queue ([0-7]), (lossless|lossy), (marks|drops)", re.ASCII)
# ToyOS's words for FEC, in the words of the tables. Another word stays NULL.
_FEC = {"rs544": "rs", "rs528": "rs", "base-r": "fc", "off": "none"}
_ALL = ""  # port and map: one setting for the whole switch
_MBPS = 1000


def _port(rows: Rows, found: re.Match[str]) -> None:
    rows.add(
        "switch_port",
        port=found[1],
        admin_up=found[2] == "up",
        is_up=found[3] == "up",
        speed_mbps=int(found[4]) * _MBPS,
        mtu=small_number(found[5]),
        fec_active=_FEC.get(found[6]),
    )


def _class(rows: Rows, found: re.Match[str]) -> None:
    priority, queue = int(found[1]), int(found[2])
    rows.add("switch_pfc", port=_ALL, priority=priority, enabled=found[3] == "lossless")
    rows.add("switch_priority_queue", map=_ALL, priority=priority, queue=queue)
    rows.add("switch_queue", port=_ALL, queue=queue, ecn_enabled=found[4] == "marks")


def _line(rows: Rows, line: str) -> None:
    if found := _VERSION.fullmatch(line):
        rows.add("switch", system="toyos", version=found[1])
    elif found := _BOX.fullmatch(line):
        rows.add("switch", system="toyos", **{found[1].lower(): found[2]})
    elif found := _PORT.fullmatch(line):
        _port(rows, found)
    elif found := _TRUST.fullmatch(line):
        rows.add("switch_port_qos", port=_ALL, trust=found[1], dscp_map=_ALL)
    elif found := _DSCP.fullmatch(line):
        rows.add("switch_dscp", map=_ALL, dscp=int(found[1]), priority=int(found[2]))
    elif found := _CLASS.fullmatch(line):
        _class(rows, found)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (the lines tell the command)
    """Rows of the switch tables."""
    rows = Rows()
    for line in text_of(data).split("\n"):
        _line(rows, line.strip())
    if data.strip() and not len(rows):
        raise NotUnderstoodError("no version, port or class of ToyOS")
    return iter(rows)
