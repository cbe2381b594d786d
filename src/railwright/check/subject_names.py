"""What people type for a subject, e.g. gpu017 or gpu017:mlx5_1, and which subjects it may be."""

from typing import NamedTuple

import duckdb

from railwright.check.findings import Findings
from railwright.check.rule import VERDICTS, Rule
from railwright.check.things import asked_for, is_asked, things_of
from railwright.errors import UsageError
from railwright.fabric.ends import no_machine
from railwright.text import plain

MOST_NAMED = 5  # subjects in one line


class Judged(NamedTuple):
    """A subject and what its rule says of it."""

    subject: str
    verdict: str


def machine_named(database: duckdb.DuckDBPyConnection, typed: str) -> str:
    """The machine of this name, in large or small letters, with or without its domain."""
    names = [n for (n,) in database.execute("SELECT target FROM target ORDER BY 1").fetchall()]
    wanted = typed.lower()
    exact = [name for name in names if name.lower() == wanted]
    found = exact or [name for name in names if name.lower().partition(".")[0] == wanted]
    if len(found) == 1 or typed in found:
        return typed if typed in found else found[0]
    raise no_machine(typed, found or names)


def judged(findings: Findings, rule: Rule, machine: str = "") -> list[Judged]:
    """The subjects of a rule that have a verdict of their own, the worst first."""
    rows = findings.database.execute(
        "SELECT subject, verdict FROM verdict WHERE rule = $rule AND subject IS NOT NULL "
        "AND ($machine = '' OR target = $machine) "
        "ORDER BY list_position($order::VARCHAR[], verdict), length(subject), subject",
        {"rule": rule.id, "machine": machine, "order": list(VERDICTS)},
    ).fetchall()
    return [Judged(*row) for row in rows]


def subjects_named(findings: Findings, rule: Rule, typed: str, machine: str) -> list[Judged]:
    """Those that were meant, the worst first; if there are none, which ones fail is said."""
    found = judged(findings, rule, machine)
    _, _, thing = typed.partition(":")
    exact = [one for one in found if one.subject.lower() == f"{machine}:{thing}".lower()]
    if exact:
        return exact
    if thing:
        asked = asked_for(things_of(findings.database, machine), thing)
        of_thing = [o for o in found if is_asked(asked, o.subject.partition(":")[2])]
        # What a rule says of a machine as a whole it says of everything in it.
        whole = [one for one in found if one.subject in (machine, f"{machine}:*")]
        found = of_thing or whole
    if found:
        return found
    raise no_such_subject(findings, rule, typed)


def no_such_subject(findings: Findings, rule: Rule, typed: str) -> UsageError:
    """A rule has nothing to say there; what it does say something of, failing ones first."""
    everything = judged(findings, rule)
    for verdict, said in (("fail", "Failing"), ("unknown", "None fails; inconclusive")):
        names = [one.subject for one in everything if one.verdict == verdict]
        if names:
            return UsageError(
                f"{rule.id} has no result for {plain(typed)!r}", do=f"{said}: {listed(names)}."
            )
    other = listed([one.subject for one in everything])
    return UsageError(
        f"{rule.id} has no result for {plain(typed)!r}",
        do=f"It fails nowhere in this snapshot.{f' It checks {other}.' if other else ''}",
    )


def listed(names: list[str]) -> str:
    """A few names, and how many more there are."""
    more = len(names) - MOST_NAMED
    said = ", ".join(plain(name) for name in names[:MOST_NAMED])
    return f"{said} and {more:,} more" if more > 0 else said
