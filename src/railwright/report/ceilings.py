"""`railwright predict ceiling`: what ports, hosts and pairs can reach, and what limits them."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

import duckdb

from railwright import __version__
from railwright.hardware.pcie import link_words
from railwright.predict.ceiling import Port, Slot, basis, unmeasured
from railwright.predict.pace import pace
from railwright.predict.pair import Direction, Pair
from railwright.report.console import plain
from railwright.report.measured import port_runs, print_port_runs
from railwright.report.pace import pace_json, print_pace
from railwright.report.screen import Screen, cut, number_of, padded, widths, with_hosts, wrapped
from railwright.report.status import exit_status
from railwright.store.duck import read_sql
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-ceilings-1"
_AT_A_TIME = 10_000
_INDENT = 9  # below the first column
# What every ceiling assumes, beside what was read.
ASSUMED = (
    "messages of 64 KiB, two or more queue pairs, memory near the NIC",
    "RoCE with an IPv4 GID where the port has one, without VLAN tag; InfiniBand without GRH",
    "NICs with GPUs below the same PCIe switch exchange data with those GPUs",
)


class Group(NamedTuple):
    """Ports that are alike."""

    role: str | None
    link_layer: str | None
    rate_gbps: float | None
    mtu: int | None
    is_mtu_derived: bool
    gts: float | None
    width: int | None
    max_payload: int | None
    max_read_request: int | None
    wire_gbps: float | None
    pcie_gbps: float | None
    write_gbps: float | None
    read_gbps: float | None
    send_gbps: float | None
    both_gbps: float | None
    binding: str | None
    basis: str | None
    low_gbps: float | None
    alarm_gbps: float | None
    latency_class: str | None
    read_wait_us: float | None
    gpu_relation: str | None
    gpu_gbps: float | None
    unknown: str
    ports: int
    example: str
    targets: list[str]


_KEYS = ", ".join(Group._fields[:-3])
_GROUPS = f"""
SELECT {_KEYS}, count(*)::BIGINT, min(target || ':' || device || '/' || port), list(DISTINCT target)
FROM port_ceiling GROUP BY ALL ORDER BY write_gbps DESC NULLS LAST, count(*) DESC, 26
"""
_HOSTS = read_sql(__file__, "views/predict/hosts.sql")
PORT_COLUMNS = (
    *("target", "device", "port", "pci", "card", "role", "rail", "link_layer", "rate_gbps", "mtu"),
    *("gts", "width", "narrowest_hop", "max_payload", "max_read_request"),
    *("wire_gbps", "into_memory_gbps", "from_memory_gbps", "both_ways_gbps"),
    *("write_gbps", "read_gbps", "send_gbps", "both_gbps", "binding", "next_gbps", "basis"),
    *("low_gbps", "high_gbps", "alarm_gbps", "latency_class", "read_wait_us"),
    *("gpu_relation", "gpu_gbps", "unknown"),
)
HOST_COLUMNS = ("target", "cards", "ports", "wire_gbps", "write_gbps")


def groups(database: duckdb.DuckDBPyConnection) -> list[Group]:
    """All ports, folded; the fastest first."""
    return [Group(*row) for row in database.execute(_GROUPS).fetchall()]


def ceilings_status(database: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> int:
    """3: something could not be worked out, or nothing was there. A port that is down is known."""
    found = database.execute(
        "SELECT count(*), count(*) FILTER (write_gbps IS NOT NULL OR state <> 'ACTIVE'), "
        "(SELECT count(*) FROM host_ceiling AS h INNER JOIN target AS t ON t.target = h.target "
        "WHERE h.write_gbps IS NULL AND t.out_of_service = '') FROM port_ceiling"
    ).fetchall()
    ports, known, open_hosts = found[0]
    unknown = not ports or ports != known or open_hosts > 0
    return exit_status(unknown=unknown, snapshot=snapshot)


def gbps(value: float | None) -> str:
    """392.1; ? where it is not known."""
    return "?" if value is None else f"{value:,.1f}"


def _port_words(one: Group) -> str:
    rate = "?" if one.rate_gbps is None else f"{one.rate_gbps:g}G"
    derived = " (from the netdev MTU)" if one.is_mtu_derived else ""
    return f"{rate} {one.link_layer or '?'}, RDMA MTU {one.mtu or '?'}{derived}"


def _slot_words(one: Group) -> str:
    if one.gts is None or one.width is None:
        return "PCIe unknown"
    return f"PCIe {link_words(one.gts, one.width)}, payload {one.max_payload or '?'}"


def _behind(one: Group) -> str:
    """How much stands behind what would limit next."""
    layer: Literal["InfiniBand", "RoCE over IPv4"] = (
        "InfiniBand" if one.link_layer == "InfiniBand" else "RoCE over IPv4"
    )
    port, slot = Port(one.rate_gbps, one.mtu, layer), Slot(one.gts, one.width, one.max_payload)
    return str(basis(port, slot, "PCIe" if one.binding == "port" else "port"))


def _limits(one: Group) -> tuple[str, str]:
    """What limits a group, and what would without it."""
    port, slot = _port_words(one), _slot_words(one)
    if one.binding is None:
        return f"unknown: {plain(one.unknown)}", ""
    first, then, above = port, slot, one.pcie_gbps
    if one.binding == "PCIe":
        first, then, above = slot, port, one.wire_gbps
    return first, f"{gbps(above)} {then}" if above is not None else then


def _more(one: Group) -> Iterator[str]:
    """What makes a group different from what one would expect."""
    if one.write_gbps is None:
        return
    if one.latency_class == "translated":
        yield "IOMMU translation is on: reads take longer, by how much is not published"
    elif one.latency_class is None:
        yield "IOMMU translation was not collected, so there is no value to fail below"
    if one.gpu_relation == "SYS":
        cap = "unknown" if one.gpu_gbps is None else f"{gbps(one.gpu_gbps)} (planned, unvalidated)"
        yield f"the nearest GPU is on the other socket: {cap}"


def _details(one: Group) -> Iterator[str]:
    """What few ask for."""
    if one.write_gbps is None:
        return
    behind = unmeasured(one.binding)
    yield f"read {gbps(one.read_gbps)}, send {gbps(one.send_gbps)} ({behind})"
    yield f"both directions at once {gbps(one.both_gbps)} each (unvalidated)"
    if one.binding is not None:
        yield f"the next limit: {_limits(one)[1]} ({_behind(one)})"
    if one.read_wait_us is not None:
        request = f"{one.max_read_request}-byte requests; calculated"
        yield f"RDMA reads are latency-bound above {one.read_wait_us:.1f} µs per read ({request})"


_TITLE = ("ceiling", "expect", "fail below", "ports", "role", "limited by", "next limit", "basis")
_NUMBERS = 4  # columns to the right
_WIDE = 120  # columns from which the next limit has room


def _row(one: Group) -> tuple[str, ...]:
    known = one.write_gbps is not None
    expected = f"{gbps(one.low_gbps)} to {gbps(one.write_gbps)}" if known else "?"
    limit, following = _limits(one)
    role = plain(one.role) if one.role else "unknown"
    numbers = (gbps(one.write_gbps), expected, gbps(one.alarm_gbps), f"{one.ports:,}")
    return *numbers, role, limit, following, str(one.basis or "")


def print_ceilings(
    screen: Screen, database: duckdb.DuckDBPyConnection, name: str, *, details: bool
) -> None:
    """Ports in groups, then hosts, then what is assumed."""
    found = groups(database)
    everyone = [t for (t,) in database.execute("SELECT target FROM target").fetchall()]
    total = number_of(sum(one.ports for one in found), "port")
    screen.heading(f"Snapshot {name}", f": calculated ceilings of {total}, ib_write_bw in Gb/s")
    rows = [_TITLE, *map(_row, found)]
    if screen.is_terminal and screen.width < _WIDE:
        rows = [(*row[:6], row[7]) for row in rows]
    columns = widths(rows)
    screen.line()
    screen.line(padded(rows[0], columns, _NUMBERS), "dim")
    for one, row in zip(found, rows[1:], strict=True):
        line = padded(row, columns, _NUMBERS).rstrip()
        screen.line(cut(screen, line), "" if one.binding == "port" else "yellow")
        where = f"{' ' * _INDENT}e.g. {plain(one.example)}:"
        for part in with_hosts(screen, where, one.targets, everyone, _INDENT + 2):
            screen.line(part, "dim")
        for text in _more(one):
            for part in wrapped(screen, text, _INDENT):
                screen.line(part, "yellow")
        for text in _details(one) if details else ():
            for part in wrapped(screen, text, _INDENT):
                screen.line(part, "dim")
    _print_hosts(screen, database, everyone)
    print_pace(screen, pace(database), everyone)
    print_port_runs(screen, port_runs(database))
    screen.line()
    screen.heading("Assumptions")
    for text in ASSUMED:
        for part in wrapped(screen, text, 2):
            screen.line(part, "dim")


def _print_hosts(screen: Screen, database: duckdb.DuckDBPyConnection, everyone: list[str]) -> None:
    screen.line()
    screen.heading("Hosts", ": compute ports added up, Gb/s (unvalidated)")
    for write, wire, cards, ports, status, targets in database.execute(_HOSTS).fetchall():
        if write is not None and not cards:
            said = "        0  no compute port"
        elif write is not None:
            of = "" if wire == write else f", limited by PCIe: the ports could carry {gbps(wire)}"
            parts = f"{number_of(ports, 'port')} of {number_of(cards, 'NIC')}"
            said = f"{gbps(write):>9}  {parts}{of}"
        else:
            read = status in ("reached", "incomplete")
            said = f"        ?  {'a port, role or ceiling is unknown' if read else status}"
        for line in with_hosts(screen, said, targets, everyone, 11):
            screen.line(line, "yellow" if write is None or wire != write else "")


def print_pair(screen: Screen, found: Pair) -> None:
    """Two ports, both directions."""
    for one in found.directions:
        _print_direction(screen, one)
    screen.line()
    screen.line(f"both directions at once: {gbps(found.both)} each (unvalidated)")
    for text in found.unknown:
        screen.line(plain(text), "yellow")


def _print_direction(screen: Screen, one: Direction) -> None:
    screen.heading(f"{plain(one.source)} -> {plain(one.destination)}", f"  {gbps(one.write)} Gb/s")
    if one.write is not None:
        least = "?" if one.low is None else gbps(one.low)
        alarm = "" if one.alarm is None else f", fail below {gbps(one.alarm)}"
        screen.line(f"  ib_write_bw: expect {least} to {gbps(one.high)}{alarm} ({one.basis})")
        screen.line(f"  read {gbps(one.read)}, send {gbps(one.send)} ({one.read_send_basis})")
        screen.line(cut(screen, f"  limited by {plain(one.binding)}"))
    for other in one.others:
        behind = f" ({other.basis})" if other.gbps is not None else ""
        screen.line(cut(screen, f"  {gbps(other.gbps):>9}  {plain(other.what)}{behind}"), "dim")


def pair_json(name: str, found: Pair, status: int) -> str:
    """The same for programs."""
    head = {"format": FORMAT, "railwright": __version__, "snapshot": name, "exit_status": status}
    directions = [asdict(one) for one in found.directions]
    body = {"directions": directions, "both_gbps": found.both, "unknown": list(found.unknown)}
    return json.dumps({**head, "assumed": list(ASSUMED[:2]), "pair": body}, indent=1)


def ceilings_json(database: duckdb.DuckDBPyConnection, name: str, status: int) -> Iterator[str]:
    """One object, a port and a host per line."""
    head = {"format": FORMAT, "railwright": __version__, "snapshot": name, "exit_status": status}
    yield json.dumps({**head, "assumed": list(ASSUMED)})[:-1] + ',\n "ports": ['
    yield from _listed(database, "port_ceiling", PORT_COLUMNS, "target, device, port")
    yield '\n ],\n "hosts": ['
    yield from _listed(database, "host_ceiling", HOST_COLUMNS, "target")
    measured = json.dumps([one._asdict() for one in port_runs(database)])
    yield f'\n ],\n "pace": {json.dumps(pace_json(pace(database)))}'
    yield f',\n "measured": {measured}\n}}\n'


def _listed(
    database: duckdb.DuckDBPyConnection, table: str, columns: tuple[str, ...], order: str
) -> Iterator[str]:
    found = database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
    comma = ""
    while rows := found.fetchmany(_AT_A_TIME):
        for row in rows:
            values: dict[str, Any] = dict(zip(columns, row, strict=True))
            yield f"{comma}\n  {json.dumps(values)}"
            comma = ","
