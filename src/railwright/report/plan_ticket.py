"""A plan as Markdown, for a ticket."""

from collections.abc import Iterator
from typing import Any

from railwright.report.plan import LEFT, OWNED, asked_words, head_lines, restart_words
from railwright.report.ticket import cell

_COLUMNS = "| | setting | from | to | where | disturbs | way back | found by |"


def plan_ticket(plan: dict[str, Any]) -> Iterator[str]:
    """All of it."""
    yield f"# Plan for snapshot {plan['snapshot']}"
    yield ""
    yield f"By {plan['author']}, {plan['made_at']}, profile {plan['profile']}."
    yield ""
    yield from (f"{line}." for line in head_lines(plan))
    yield from _changes(plan["changes"])
    yield from _listed("Then, once for all of these", map(_restart, plan["restarts"]))
    for name, words in LEFT:
        yield from _listed(words, map(_left, plan[name]))
    owned = (f"{one['owner']}: {asked_words(one)}, {one['hosts']}" for one in plan["render_for"])
    yield from _listed(OWNED, map(cell, owned))
    by_hand = (f"{one['severity']}: {one['rule']}, {one['hosts']}" for one in plan["by_hand"])
    yield from _listed("No setting mends these", by_hand)


def _changes(changes: list[dict[str, Any]]) -> Iterator[str]:
    if changes:
        yield from ("", _COLUMNS, "|---|---|---|---|---|---|---|---|")
    for one in changes:
        cells = (
            *(str(one["number"]), one["setting"], one["from"], one["to"]),
            *(f"{one['subjects']:,} on {one['hosts']}", one["disturbs"], one["way_back"]),
            ", ".join(one["found_by"]),
        )
        yield f"| {' | '.join(cell(one) for one in cells)} |"


def _listed(words: str, lines: Iterator[str]) -> Iterator[str]:
    """A heading and its list, if there is any."""
    for number, line in enumerate(lines):
        if number == 0:
            yield from ("", f"## {words}", "")
        yield f"- {line}"


def _restart(one: dict[str, Any]) -> str:
    waits = ", ".join((*one["for"], *one["found_by"]))
    return f"{restart_words(one)} on {cell(one['hosts'])}, for {cell(waits)}"


def _left(one: dict[str, Any]) -> str:
    change = f"{one['from'] or 'not read'} -> {one['to'] or '?'}"
    why = f": {one['why']}" if one["why"] else ""
    return f"{one['setting']} {cell(change)}, {one['hosts']}{cell(why)}"
