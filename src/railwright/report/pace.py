"""The pace of a job over all hosts: a line in `check`, a table in `predict`, JSON of both."""

from typing import Any

from railwright.check.findings import Findings
from railwright.nodes import fold
from railwright.predict.fleet import make_ceilings_of
from railwright.predict.pace import BASIS, Pace, Step, pace
from railwright.report.console import plain
from railwright.report.screen import Screen, number_of, padded, widths, with_hosts, wrapped

MOST_STEPS = 6  # on a terminal; a pipe gets all


def pace_of(findings: Findings) -> Pace:
    """Of all hosts of a check, with the roles that the site gives their ports."""
    make_ceilings_of(findings.database)
    return pace(findings.database)


def _without(step: Step) -> str:
    return "all hosts" if not step.without else f"without {step.without:,}"


def _why(step: Step) -> str:
    """`ember-h004:mlx5_3/1: PCIe`."""
    return plain(f"{step.slowest}: {step.limited_by}")


def pace_line(pace: Pace) -> str:
    """`Pace of a job: 229.9 Gb/s per port over 29 hosts (…); without 2 hosts 370.3, …`."""
    if not pace.steps:
        return "Pace of a job: not known of any host" if pace.unknown else ""
    first, last = pace.steps[0], pace.steps[-1]
    least = "at most " if pace.unknown else ""
    said = f"Pace of a job: {least}{first.gbps:,.1f} Gb/s per port over {_hosts(pace)}"
    if first is not last:
        said += f" ({_why(first)}); without {number_of(last.without, 'host')} {last.gbps:,.1f}"
    return f"{said}; {len(pace.unknown):,} not known" if pace.unknown else said


def _hosts(pace: Pace) -> str:
    return "1 host" if pace.hosts == 1 else f"all {pace.hosts:,} hosts"


def print_pace(screen: Screen, pace: Pace, everyone: list[str]) -> None:
    """A row for each pace, the slowest hosts first."""
    screen.line()
    screen.heading("Pace of a job", ": as fast as its slowest compute port, Gb/s")
    most = MOST_STEPS if screen.is_terminal else len(pace.steps)
    shown = (
        pace.steps[:most] if len(pace.steps) <= most else [*pace.steps[: most - 1], pace.steps[-1]]
    )
    rows = [(f"{step.gbps:,.1f}", _without(step), _why(step)) for step in shown]
    columns = widths(rows)
    last = len(rows) - 1
    for number, (step, row) in enumerate(zip(shown, rows, strict=True)):
        slow = number < last
        line = padded(row if slow or not last else row[:2], columns, 1).rstrip()
        for part in (
            with_hosts(screen, f"  {line}", step.targets, everyone, 11) if slow else (f"  {line}",)
        ):
            screen.line(part, "yellow" if slow else "")
    if len(shown) < len(pace.steps):
        screen.line(
            f"  {len(pace.steps) - len(shown):,} more: railwright predict ceiling | cat", "dim"
        )
    if pace.unknown:
        said = f"  {number_of(len(pace.unknown), 'host')} not known, may be slower"
        for part in with_hosts(screen, said, pace.unknown, everyone, 11):
            screen.line(part, "yellow")
    for part in wrapped(screen, BASIS, 2):
        screen.line(part, "dim")


def pace_json(pace: Pace) -> dict[str, Any]:
    """Hosts folded: at one pace there may be thousands."""
    steps = [{**step._asdict(), "targets": fold(step.targets)} for step in pace.steps]
    return {"basis": BASIS, "hosts": pace.hosts, "unknown": fold(pace.unknown), "steps": steps}
