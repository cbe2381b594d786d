"""`railwright diff`: what changed between two snapshots, folded, and what cannot be compared."""

from itertools import groupby

from railwright.model.compare import Change, changes, gaps, open_both, target_changes
from railwright.nodes import fold
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of
from railwright.schema.table import tables
from railwright.store.snapshot import Snapshot

MOST_ROWS = 40  # of one table on a terminal; a pipe gets all


def print_changes(screen: Screen, before: Snapshot, now: Snapshot) -> tuple[bool, bool]:
    """The difference; (something changed, something could not be compared)."""
    screen.heading(f"{before.name} -> {now.name}")
    with open_both(before, now) as database:
        moved = target_changes(database)
        for old, new, targets in moved:
            screen.line(f"  {number_of(len(targets), 'target')}  {old} -> {new}  {fold(targets)}")
        lacking = gaps(database)
        found = False
        for table, rows in groupby(changes(database), key=lambda change: change.table):
            found = True
            _print_table(screen, table, list(rows))
    if not (found or moved):
        screen.line("  No change in what could be compared.")
    if lacking:
        screen.line()
        screen.heading("Not compared", ": read in one of the two only")
        for gap in lacking:
            line = f"  {gap.probe} not answered {gap.side}: {number_of(len(gap.targets), 'host')}"
            screen.line(cut(screen, f"{line}  {fold(gap.targets)}"), "yellow")
    unknown = any("reached" not in (old, new) or old != new for old, new, _ in moved)
    return found, bool(lacking) or unknown


def _value(value: str | None) -> str:
    return "not read" if value is None else plain(value) if value else "''"


def _told(change: Change) -> str:
    name = " ".join(part for part in (plain(change.what), change.column) if part)
    if change.kind in ("appeared", "gone"):
        return f"{name or 'row'} {change.kind}"
    return f"{name}: {_value(change.old)} -> {_value(change.new)}"


def _print_table(screen: Screen, table: str, rows: list[Change]) -> None:
    screen.line()
    screen.heading(table, f": {tables()[table].meaning}")
    most = MOST_ROWS if screen.is_terminal else len(rows)
    for change in rows[:most]:
        line = f"  {change.things:>7,}  {_told(change)}  on {fold(change.targets)}"
        style = "yellow" if change.kind in ("read now", "not read now") else ""
        screen.line(cut(screen, line), style)
    if len(rows) > most:
        screen.line(f"  and {len(rows) - most:,} more: railwright diff A B | cat", "dim")
