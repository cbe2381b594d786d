"""Many small worlds in one database: each has machines of its own, and one query judges them all."""

import re
from collections.abc import Sequence

from railwright.check.cases import PARAMETERS, Rows
from railwright.check.tables import all_tables
from railwright.check.trial import Trial, Verdict

World = tuple[Rows, str]  # rows, and the column of a scope that nobody has read; '' = all were
_NUMBER = re.compile(r"~(\d+)")


def _has_machines(table: str) -> bool:
    return (
        table != PARAMETERS
        and "target" in all_tables()[table.removeprefix("before.")].column_types()
    )


def _common(rows: Rows) -> str:
    """What is of no machine, such as the site's wishes: worlds in one database share it."""
    return repr(sorted((t, content) for t, content in rows.items() if not _has_machines(t)))


def judge_together(trial: Trial, worlds: Sequence[World]) -> list[dict[str, Verdict]]:
    """What a rule that compares no machines says in each world."""
    groups: dict[str, list[int]] = {}
    for number, (rows, _) in enumerate(worlds):
        groups.setdefault(_common(rows), []).append(number)
    found: list[dict[str, Verdict]] = [{} for _ in worlds]
    for numbers in groups.values():
        for subject, verdict in _judge(trial, worlds, numbers).items():
            number = _NUMBER.search(subject)
            assert number, f"{trial.rule.id} says something of {subject}"
            found[int(number[1])][_NUMBER.sub("", subject)] = verdict
    return found


def _judge(trial: Trial, worlds: Sequence[World], numbers: list[int]) -> dict[str, Verdict]:
    together: Rows = {}
    hidden: dict[str, list[str]] = {}
    for number in numbers:
        rows, need = worlds[number]
        for table, content in rows.items():
            if _has_machines(table):
                named = [{**row, "target": f"{row['target']}~{number}"} for row in content]
                together.setdefault(table, []).extend(named)
            else:
                together[table] = content
        if need:
            names = {f"{row['target']}~{number}" for row in rows["target"]}
            hidden.setdefault(need, []).extend(sorted(names))
    return trial.judge(together, hidden)


def judge_each(trial: Trial, worlds: Sequence[World]) -> list[dict[str, Verdict]]:
    """The same, one database after the other: for rules that compare machines."""
    return [
        trial.judge(rows, {need: [row["target"] for row in rows["target"]]} if need else None)
        for rows, need in worlds
    ]
