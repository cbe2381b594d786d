"""`railwright predict ceiling`: what ports, hosts and pairs can reach, and what binds them."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

import duckdb

from railwright import __version__
from railwright.hardware.pcie import link_words
from railwright.predict.ceiling import Port, Slot, basis, unmeasured
from railwright.predict.pair import Direction, Pair
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of, with_hosts, wrapped
from railwright.report.status import exit_status
from railwright.store.duck import read_sql
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-ceilings-1"
_AT_A_TIME = 10_000
# What every ceiling takes for granted, beside what was read.
ASSUMED = (
    "messages of 64 KiB, two or more queue pairs, memory near the NIC",
    "RoCE with an IPv4 GID where the port has one, without VLAN tag; InfiniBand without GRH",
    "hosts: NICs with GPUs below the same PCIe switch talk to these",
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
    mtu = f"RDMA MTU {one.mtu or '?'}"
    derived = " as its network device's MTU gives" if one.is_mtu_derived else ""
    return f"port {rate} {one.link_layer or '?'}, {mtu}{derived}"


def _slot_words(one: Group) -> str:
    if one.gts is None or one.width is None:
        return "PCIe not known"
    payload = f"payload {one.max_payload or 'not read'}"
    return f"PCIe {link_words(one.gts, one.width)}, {payload}"


def _behind(one: Group) -> str:
    """How much stands behind what would bind next."""
    layer: Literal["InfiniBand", "RoCE over IPv4"] = (
        "InfiniBand" if one.link_layer == "InfiniBand" else "RoCE over IPv4"
    )
    port, slot = Port(one.rate_gbps, one.mtu, layer), Slot(one.gts, one.width, one.max_payload)
    return str(basis(port, slot, "PCIe" if one.binding == "port" else "port"))


def _bound(one: Group) -> str:
    """What binds, and what would without it."""
    port, slot = _port_words(one), _slot_words(one)
    if one.binding == "port":
        above = "more" if one.pcie_gbps is None else f"{gbps(one.pcie_gbps)} ({_behind(one)})"
        return f"bound by {port}; {slot} would carry {above}"
    if one.binding == "PCIe":
        above = "more" if one.wire_gbps is None else f"{gbps(one.wire_gbps)} ({_behind(one)})"
        return f"bound by {slot}; {port} would carry {above}"
    return f"unknown: {one.unknown}"


def _more(one: Group) -> Iterator[str]:
    """The lines below a group's first."""
    if one.write_gbps is None:
        return
    both = f"both ways at once {gbps(one.both_gbps)} each (unvalidated)"
    behind = unmeasured(one.binding)
    yield f"read {gbps(one.read_gbps)}, send {gbps(one.send_gbps)} ({behind}), {both}"
    if one.latency_class == "translated":
        yield "the IOMMU translates: reads take longer, and how far below it may end is not known"
    elif one.latency_class is None:
        yield "whether the IOMMU translates was not read: no alarm line"
    if one.read_wait_us is not None:
        request = f"requests of {one.max_read_request} bytes; arithmetic"
        yield f"reads bind where one takes longer than {one.read_wait_us:.1f} us ({request})"
    if one.gpu_relation == "SYS":
        cap = (
            "not known" if one.gpu_gbps is None else f"{gbps(one.gpu_gbps)} (planned, unvalidated)"
        )
        yield f"the nearest GPU is at the other socket: {cap}"


def print_ceilings(screen: Screen, database: duckdb.DuckDBPyConnection, name: str) -> None:
    """Ports in groups, then hosts, then what is taken for granted."""
    found = groups(database)
    everyone = [t for (t,) in database.execute("SELECT target FROM target").fetchall()]
    screen.heading(
        f"Snapshot {name}",
        f": ceilings of {number_of(sum(one.ports for one in found), 'port')}, Gb/s of data one way",
    )
    for one in found:
        screen.line()
        head = f"{gbps(one.write_gbps):>8}  {number_of(one.ports, 'port')}"
        if one.write_gbps is not None:
            least = gbps(one.low_gbps) if one.low_gbps is not None else "?"
            alarm = f", alarm below {gbps(one.alarm_gbps)}" if one.alarm_gbps is not None else ""
            head += f", ib_write_bw {least} to {gbps(one.write_gbps)}{alarm} ({one.basis})"
        role = f"{plain(one.role)}" if one.role else "role not known"
        screen.heading(cut(screen, head))
        for line in wrapped(screen, _bound(one), 10):
            screen.line(line, "" if one.binding == "port" else "yellow")
        for text in _more(one):
            for line in wrapped(screen, text, 10):
                screen.line(line, "dim")
        where = f"{' ' * 10}{role}, such as {plain(one.example)}:"
        for line in with_hosts(screen, where, one.targets, everyone, 12):
            screen.line(line)
    _print_hosts(screen, database, everyone)
    screen.line()
    screen.heading("Taken for granted")
    for text in ASSUMED:
        for line in wrapped(screen, text, 2):
            screen.line(line, "dim")


def _print_hosts(screen: Screen, database: duckdb.DuckDBPyConnection, everyone: list[str]) -> None:
    screen.line()
    screen.heading("Hosts", ": all compute ports together, added up (unvalidated)")
    for write, wire, cards, ports, status, targets in database.execute(_HOSTS).fetchall():
        if write is not None and not cards:
            said = "        0  no compute port"
        elif write is not None:
            of = "" if wire == write else f" of the ports' {gbps(wire)}"
            said = f"{gbps(write):>9}{of}, {number_of(ports, 'port')} of {number_of(cards, 'card')}"
        else:
            read = status in ("reached", "incomplete")
            said = f"        ?  {'a port, a role or a ceiling is not known' if read else status}"
        for line in with_hosts(screen, said, targets, everyone, 11):
            screen.line(line, "yellow" if write is None or wire != write else "")


def print_pair(screen: Screen, found: Pair) -> None:
    """Two ports, both directions."""
    for one in found.directions:
        _print_direction(screen, one)
    screen.line()
    screen.line(f"both ways at once: {gbps(found.both)} each (unvalidated)")
    for text in found.unknown:
        screen.line(plain(text), "yellow")


def _print_direction(screen: Screen, one: Direction) -> None:
    screen.heading(f"{plain(one.source)} -> {plain(one.destination)}", f"  {gbps(one.write)} Gb/s")
    if one.write is not None:
        least = "?" if one.low is None else gbps(one.low)
        alarm = "" if one.alarm is None else f", alarm below {gbps(one.alarm)}"
        screen.line(f"  ib_write_bw {least} to {gbps(one.high)}{alarm} ({one.basis})")
        screen.line(f"  read {gbps(one.read)}, send {gbps(one.send)} ({one.read_send_basis})")
        screen.line(cut(screen, f"  bound by {plain(one.binding)}"))
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
    yield "\n ]\n}\n"


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
