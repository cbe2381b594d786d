"""`railwright show HOST`: one host on one screen, or one switch."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from railwright.check.machine import NOTHING, OfMachine
from railwright.errors import UsageError
from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.report.adapters import Things, device_names, name_of
from railwright.report.console import plain
from railwright.report.host_ports import print_disagreements, print_ports
from railwright.report.machine_findings import print_findings
from railwright.report.screen import (
    Screen,
    age,
    cut,
    moment,
    number_of,
    padded,
    widths,
    wrapped,
)
from railwright.report.switches import print_switch
from railwright.report.tree import NOT_READ, Drawn, Function, Tree, lay_out, short_address
from railwright.store.duck import read_sql
from railwright.store.reader import Reader
from railwright.store.snapshot import Snapshot

MOST_LINES = 12  # of what waits, of ssh's words or of noise, on a terminal
ROOT = {
    "root": "as root",
    "runner": "with root through sudo",
    "commands": "with single commands through sudo",
    "denied": "without root",
}


class Target(NamedTuple):
    """What became of the machine."""

    name: str
    status: str
    words: str
    out_of_service: str
    started: float | None
    attempts: int | None
    noise_bytes: int | None
    noise: str
    root: str | None
    kind: str


class Facts:
    """The tables of one host."""

    def __init__(self, reader: Reader, target: str) -> None:
        self._reader = reader
        self._target = target

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query whose only parameter is $target, the host."""
        return self._reader.rows(query, {"target": self._target})

    def answered(self, probe: str) -> bool:
        """Whether a probe answered on this host."""
        query = "SELECT 1 FROM probe_result WHERE target = ? AND status = 'ok' AND probe = ?"
        return bool(self._reader.rows(query, [self._target, probe]))


def print_host(  # noqa: PLR0913
    screen: Screen,
    snapshot: Snapshot,
    name: str,
    now: float | None = None,
    *,
    site: Site | None = None,
    of: OfMachine | None = None,
) -> bool:
    """One host, with the roles of the site and what rules find; True when it was reached."""
    with closing(Reader(snapshot)) as reader:
        reader.rows(make_site_ports(site), {})
        target = machine_meant(reader, snapshot, name)
        facts = Facts(reader, target.name)
        host = facts.rows(
            "SELECT hostname, kernel, architecture, operating_system, epoch(read_at), "
            "clock_offset_s FROM host WHERE target = $target"
        )
        at = time.time() if now is None else now
        _print_head(screen, target, host, None if snapshot.is_demo else at)
        _print_trouble(screen, target)
        if target.kind == "switch" and target.status in ("reached", "incomplete"):
            has_gaps = print_switch(screen, facts, of)
            _print_unknown(screen, facts, has_gaps=has_gaps)
        elif host:
            _print_system(screen, facts, target, host[0])
            if of is not None:
                print_findings(screen, of)
            has_gaps = _print_tree(screen, facts, of or NOTHING)
            has_gaps |= print_ports(screen, facts, of or NOTHING)
            _print_without_rdma(screen, facts)
            print_disagreements(screen, facts)
            _print_waiting(screen, facts)
            _print_unknown(screen, facts, has_gaps=has_gaps)
        elif target.status != "reached":
            screen.line()
            screen.line(f"Nothing else is known about it in snapshot {snapshot.name}.")
    return target.status == "reached"


# ---- which host


def named_machine(snapshot: Snapshot, name: str) -> tuple[str, bool]:
    """The target that was meant, and whether it was reached."""
    with closing(Reader(snapshot)) as reader:
        found = machine_meant(reader, snapshot, name)
        return found.name, found.status == "reached"


_NAMED = read_sql(__file__, "views/show/targets_named.sql")


def machine_meant(reader: Reader, snapshot: Snapshot, name: str) -> Target:
    """The machine of this name, or the only one whose hostname it is; else say which are near.

    Something on it may be named too: gpu017:mlx5_1 is on gpu017.
    """
    for one in dict.fromkeys((name, name.partition(":")[0])):
        for spelled in dict.fromkeys((one, *_spelled(reader, one))):
            found = reader.rows(_NAMED, {"name": spelled})
            if found and (len(found) == 1 or found[0][0] == spelled):
                return Target(*found[0])
    name = name.partition(":")[0]
    near = reader.rows(
        "SELECT target FROM target WHERE jaro_winkler_similarity(target, lower($name)) > 0.8 "
        "OR contains(target, $name) OR starts_with($name, target || '.') "
        "ORDER BY NOT starts_with(target, $name), levenshtein(target, $name), target LIMIT 5",
        {"name": name},
    )
    names = " or ".join(target for (target,) in near)
    raise UsageError(
        f"no host or switch {plain(name)!r} in snapshot {snapshot.name}",
        why=f"Did you mean {names}?" if names else "",
        do="railwright facts lists its hosts; railwright store list shows other snapshots.",
    )


def _spelled(reader: Reader, name: str) -> list[str]:
    """The same name in the letters of the snapshot."""
    rows = reader.rows(
        "SELECT target FROM target WHERE lower(target) = lower($name) LIMIT 2", {"name": name}
    )
    return [target for (target,) in rows] if len(rows) == 1 else []


# ---- the head


def _print_head(
    screen: Screen, target: Target, host: list[tuple[Any, ...]], now: float | None
) -> None:
    """`now` is None in the demo, which has no age."""
    at = host[0][4] if host and host[0][4] else target.started
    ago = "demo data" if now is None else f"{age(now - at)} ago" if at else ""
    when = f" {moment(at)}, {ago}" if at else ""
    known = ("reached", "incomplete", "not collected")
    status = (
        plain(target.status) if target.status in known else f"not reached, {plain(target.status)}"
    )
    said = f": {status}{when}"
    if host:
        said += f", {ROOT.get(target.root or '', 'root unknown')}"
    elif target.attempts:
        said += f", {number_of(target.attempts, 'attempt')}"
    screen.heading(target.name, said)
    if target.out_of_service:
        screen.line(f"Out of service: {plain(target.out_of_service)}")


def _said_lines(screen: Screen, text: str) -> Iterator[str]:
    lines = [plain(line) for line in text.splitlines() if line.strip()]
    most = MOST_LINES if screen.is_terminal else len(lines)
    yield from (f"  {line}" for line in lines[-most:])


def _print_trouble(screen: Screen, target: Target) -> None:
    """What ssh said, and what came that was no answer; of a switch that answered both are usual."""
    if target.kind == "switch" and target.status == "reached":
        return
    if target.words.strip():
        screen.line("Error output:")
        for line in _said_lines(screen, target.words):
            screen.line(line)
    if target.noise_bytes:
        screen.line(f"Unparsed output, {number_of(target.noise_bytes, 'byte')}:")
        for line in _said_lines(screen, target.noise):
            screen.line(line)


def _print_system(screen: Screen, facts: Facts, target: Target, host: tuple[Any, ...]) -> None:
    hostname, kernel, architecture, system, _, offset = host
    parts = [
        plain(system or "unknown system"),
        f"kernel {plain(kernel or NOT_READ)} {plain(architecture or '')}".rstrip(),
    ]
    drivers = facts.rows(
        "SELECT DISTINCT driver_version FROM gpu "
        "WHERE target = $target AND driver_version IS NOT NULL ORDER BY ALL"
    )
    parts += [f"NVIDIA driver {plain(version)}" for (version,) in drivers]
    if hostname and hostname != target.name:
        parts.append(f"hostname {plain(hostname)}")
    if offset is not None and abs(offset) >= 1:  # a second: connections are slow, clocks are not
        parts.append(f"clock {abs(offset):.0f} s {'ahead' if offset > 0 else 'behind'}")
    screen.line(", ".join(parts))


# ---- the tree

FUNCTIONS = read_sql(__file__, "views/show/functions.sql")


def _print_without_rdma(screen: Screen, facts: Facts) -> None:
    """A laptop, a login node: said once, where its ports would stand."""
    without = facts.rows(
        "SELECT 1 FROM probe_result WHERE target = $target AND probe = 'infiniband' "
        "AND status IN ('ok', 'absent') AND target NOT IN (SELECT target FROM rdma_device)"
    )
    if without:
        screen.line()
        screen.line("No RDMA NIC on this host.")


def _print_tree(screen: Screen, facts: Facts, of: OfMachine) -> bool:
    """The tree; True where something in it was not read."""
    functions = [Function(*row) for row in facts.rows(FUNCTIONS)]
    things = Things(facts, functions, of).lines
    tree = Tree(functions, things, of)
    parts = [
        (_numa_title(number, cpus), tree.draw(nodes, others, screen))
        for number, cpus, nodes, others in tree.numa_nodes()
    ]
    lost = [
        Drawn("  ", "  ", "", short_address(pci), line)
        for pci in tree.missing
        for line in things[pci]
    ]
    if lost:
        parts.append(("Place on PCIe not known, or none", lost))
    laid_out = lay_out([item for _, drawn in parts for item in drawn], screen)
    for title, drawn in parts:
        screen.line()
        screen.heading(title)
        for item in drawn:
            for text, marked in laid_out[item]:
                screen.line(text, "yellow" if marked else "")
    return any(NOT_READ in text for lines in laid_out.values() for text, _ in lines)


def _numa_title(number: int | None, cpus: str) -> str:
    if number is None:
        return "NUMA node not read"
    return f"NUMA node {number}, CPUs {plain(cpus)}" if number >= 0 else "No NUMA node named"


# ---- what waits, what is not known

_WAITING = read_sql(__file__, "views/show/waiting.sql")
UNANSWERED = read_sql(__file__, "views/show/unanswered.sql")


def _print_waiting(screen: Screen, facts: Facts) -> None:
    found = facts.rows(_WAITING)
    if not found:
        return
    names = device_names(facts)
    rows = [
        (
            name_of(names, pci),
            plain(name),
            f"{plain(now or NOT_READ)} -> {plain(after or NOT_READ)}",
        )
        for pci, name, now, after in found
    ]
    screen.line()
    screen.heading(f"{number_of(len(rows), 'firmware parameter')} waiting for a reset")
    most = MOST_LINES if screen.is_terminal else len(rows)
    columns = widths(rows)
    for row in rows[:most]:
        screen.line(cut(screen, "  " + padded(row, columns)))
    if len(rows) > most:
        screen.line(f"  and {len(rows) - most} more", "dim")


def _print_unknown(screen: Screen, facts: Facts, *, has_gaps: bool) -> None:
    found = facts.rows(UNANSWERED)
    unasked = facts.rows(
        "SELECT probe FROM gap WHERE target = $target AND answers = 0 ORDER BY probe"
    )
    found += [("not asked", "", probe, 1) for (probe,) in unasked]
    screen.line()
    if not found:
        if not has_gaps:
            screen.heading("Nothing missing", ": every probe answered")
        else:
            screen.heading("Every probe answered", f"; {NOT_READ} is in none of the answers")
        return
    screen.heading("Not collected", f"; {NOT_READ} above is what is missing" if has_gaps else "")
    together: dict[tuple[str, str], list[str]] = {}
    for status, reason, probe, count in found:
        name = f"{probe} ({count} times)" if count > 1 else probe
        together.setdefault((status, reason), []).append(name)
    for (status, reason), probes in together.items():
        said = f"{status}: {', '.join(probes)}" + (f"; {plain(reason)}" if reason else "")
        for line in wrapped(screen, said, 2):
            screen.line(line)
