"""`railwright rails`: the rails against the leaves, as a table of counts."""

import json
from typing import Any, NamedTuple

from rich.text import Text

from railwright.check.rails import Misplaced, Undecided
from railwright.fabric.infiniband import NOT_COLLECTED
from railwright.fabric.rails import Column, LeafRow, Rails
from railwright.nodes import fold
from railwright.report.collected import short
from railwright.report.console import plain
from railwright.report.screen import Screen, number_of, wrapped
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-rails-2"
MOST_ODD = 20  # on a terminal; a pipe gets all
NAME = 20  # columns for leaves on a terminal
_FIRST = 10  # in front of the counts
_CELL = 5
_BY_LLDP = "Leaves are told by LLDP: lldpd on hosts (probe lldpctl), or switches that were read."


class Matrix(NamedTuple):
    """The rails, and the ports that do not belong where they are."""

    rails: Rails
    misplaced: list[Misplaced]
    undecided: Undecided

    def status(self, snapshot: Snapshot) -> int:
        """3 also where no leaf is known, or that of some ports is not."""
        rails = self.rails
        unknown = not rails.rows or any(self.undecided) or any(count for count, _ in _open(rails))
        return exit_status(found=bool(self.misplaced), unknown=bool(unknown), snapshot=snapshot)

    def is_odd(self, row: LeafRow, column: Column) -> bool:
        """Whether ports of this rail or plane do not belong to one of these leaves."""
        return any(
            one.leaf in row.leaves and (one.rail, one.plane) == column for one in self.misplaced
        )


def _open(rails: Rails) -> list[tuple[int, str]]:
    """Compute ports of which the leaf or the rail is not known, and why."""
    return [
        (rails.unread, "leaf unknown, because LLDP was not read"),
        (rails.alone, "leaf unknown, because LLDP has no neighbor there"),
        (rails.bare, "leaf unknown, because the host shows no network device"),
        (rails.infiniband, f"leaf unknown, because {NOT_COLLECTED}"),
        (rails.without_rail, "rail unknown, because only the site file makes it compute"),
    ]


def _label(column: Column, *, planes: bool) -> str:
    return f"{column[0]}.{column[1]}" if planes else str(column[0])


def _blocks(screen: Screen, rails: Rails) -> list[list[Column]]:
    """As many columns as fit beside the leaves."""
    if not screen.is_terminal:
        return [rails.columns]
    most = max(1, (screen.width - NAME - _FIRST - 2) // _CELL)
    return [rails.columns[at : at + most] for at in range(0, len(rails.columns), most)]


def print_rails(screen: Screen, name: str, matrix: Matrix) -> None:
    """The matrix."""
    rails = matrix.rails
    leaves = sum(len(row.leaves) for row in rails.rows)
    screen.heading(
        f"Snapshot {name}",
        f": {number_of(len(rails.sizes), 'rail')}, {number_of(leaves, 'leaf', 'leaves')}, "
        f"{number_of(rails.hosts, 'host')}",
    )
    if not rails.rows and (rails.infiniband < rails.ports or not rails.ports):
        screen.line("No compute port of a host has a neighbor that is known.", "yellow")
        screen.line(_BY_LLDP, "yellow")
    for columns in _blocks(screen, rails) if rails.rows else ():
        _print_block(screen, matrix, columns)
    _print_rest(screen, matrix)


def _print_block(screen: Screen, matrix: Matrix, columns: list[Column]) -> None:
    """The leaves stand last: their list is as long as it is."""
    rails = matrix.rails
    planes = len({plane for _, plane in rails.columns}) > 1
    shown = [row for row in rails.rows if any(column in row.counts for column in columns)]
    head = "".join(f"{_label(column, planes=planes):>{_CELL}}" for column in columns)
    screen.line()
    screen.line(f"{'rail.plane' if planes else 'rail':<{_FIRST}}{head}  leaves", "bold")
    for row in shown:
        line = Text(" " * _FIRST)
        for column in columns:
            count = row.counts.get(column)
            odd = count is not None and matrix.is_odd(row, column)
            cell = "." if count is None else f"{count:,}{'*' if odd else ''}"
            line.append(f"{cell:>{_CELL}}", "bold red" if odd else "green" if count else "dim")
        count = len(row.leaves)
        names = plain(fold(row.leaves)) + (f" ({count:,})" if count > 1 else "")
        if screen.is_terminal and len(names) > screen.width - len(line) - 2:
            names = f"{count:,}: {plain(fold(row.leaves))}"
            names = short(names, max(screen.width - len(line) - 2, 8))
        line.append(f"  {names}")
        screen.styled(line)


def _print_rest(screen: Screen, matrix: Matrix) -> None:
    rails, found = matrix.rails, matrix.misplaced
    if found:
        screen.line()
        screen.heading(f"{number_of(len({one.port for one in found}), 'port')} on another leaf")
        most = MOST_ODD if screen.is_terminal else len(found)
        for one in found[:most]:
            at = f"{one.port} at {one.leaf}:{one.leaf_port}"
            screen.line(f"  {one.rule}  {plain(at)}: {plain(one.said)}", "red")
        if len(found) > most:
            screen.line(f"  and {len(found) - most:,} more: railwright rails | cat", "dim")
    ports, hosts = matrix.undecided
    if ports:
        what = "which leaf it belongs to" if ports == 1 else "which leaf they belong to"
        said = f"{number_of(ports, 'port')}: {what} is not known"
        screen.line(f"{said}; railwright check says why", "yellow")
    if hosts:
        said = f"{number_of(hosts, 'host')} not read: ports not known"
        screen.line(f"{said}; railwright check says why", "yellow")
    for count, why in _open(rails):
        if count:
            for line in wrapped(screen, f"{number_of(count, 'compute port')}: {why}", 0):
                screen.line(line, "yellow")


def rails_data(matrix: Matrix) -> dict[str, Any]:
    """The same as data: for programs, and for the page."""
    rails = matrix.rails
    rows = [
        {
            "leaves": list(row.leaves),
            "rail": row.rail,
            "plane": row.plane,
            "ports": [
                {"rail": rail, "plane": plane, "count": count}
                for (rail, plane), count in sorted(row.counts.items())
            ],
        }
        for row in rails.rows
    ]
    return {
        "hosts": rails.hosts,
        "compute_ports": rails.ports,
        "not_read": rails.unread,
        "without_neighbor": rails.alone,
        "infiniband": rails.infiniband,
        "without_netdev": rails.bare,
        "without_rail": rails.without_rail,
        "undecided": matrix.undecided.ports,
        "hosts_not_read": matrix.undecided.hosts,
        "rails": [{"rail": rail, "compute_ports": count} for rail, count in rails.sizes],
        "rows": rows,
        "misplaced": [one._asdict() for one in matrix.misplaced],
    }


def rails_json(name: str, status: int, matrix: Matrix) -> str:
    """For programs."""
    head = {"format": FORMAT, "snapshot": name, "exit_status": status}
    return json.dumps(head | rails_data(matrix), indent=1)
