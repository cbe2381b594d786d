"""The findings of one machine, above what `railwright show` draws of it."""

from collections import Counter

from railwright.check.machine import Found, OfMachine
from railwright.check.places import aside
from railwright.check.rule import SEVERITIES
from railwright.report.console import plain
from railwright.report.screen import Screen, number_of, wrapped

MOST_LINES = 12  # on a terminal; the rest is counted
MOST_RULES = 5  # of what is inconclusive


def print_findings(screen: Screen, of: OfMachine) -> None:
    """Counts, then one line each, what stands by itself first."""
    screen.line()
    stand = [one for one in of.found if one.state == "open"]
    worst = Counter(one.severity for one in stand)
    graded = ", ".join(f"{worst[name]} {name}" for name in SEVERITIES if worst[name])
    counts = [f": {graded}"] if graded else [""]
    others = Counter(one.state for one in of.found if one.state != "open")
    counts += [f"{count} {plain(state)}" for state, count in sorted(others.items())]
    if of.inconclusive:
        counts.append(f"{number_of(len(of.inconclusive), 'rule')} inconclusive")
    title = number_of(len(stand), "finding") if stand else "No findings"
    screen.heading(title, "; ".join(counts))
    most = MOST_LINES if screen.is_terminal else len(of.found)
    for one in of.found[:most]:
        for line in wrapped(screen, _said(one), 2):
            screen.line(line, "yellow" if one.state == "open" else "dim")
    if len(of.found) > most:
        screen.line(f"  and {len(of.found) - most} more", "dim")
    if of.inconclusive:
        names = ", ".join(of.inconclusive[:MOST_RULES])
        more = ", …" if len(of.inconclusive) > MOST_RULES else ""
        for line in wrapped(screen, f"inconclusive: {names}{more}", 2):
            screen.line(line, "dim")
    if of.not_run:
        for line in wrapped(screen, f"not run to the end: {', '.join(of.not_run)}", 2):
            screen.line(line, "yellow")


def _said(one: Found) -> str:
    state = "" if one.state == "open" else f"{one.state}, "
    said = one.said[:1].upper() + one.said[1:]
    more = [aside(one.detail, one.subject, *sorted(one.names))]
    if one.cause and one.state == "implied":
        more.append(f"follows from {one.cause}")
    beside = f" ({'; '.join(filter(None, more))})" if any(more) else ""
    return plain(f"{state}{one.severity} {one.rule}{_place(one)}: {said}{beside}")


def _place(one: Found) -> str:
    """mlx5_1 (0000:29:00.0): as people know it, and as the finding has it."""
    thing = one.subject.partition(":")[2]
    if not thing:
        return ""
    known = [name for name in sorted(one.names) if ":" not in name and name not in thing]
    if thing.count(":") < 2 or not known:
        return f" at {thing}"
    device = [name for name in known if "_" in name] or known
    return f" at {device[0]} ({thing})"
