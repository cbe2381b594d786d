"""One rule at one subject: its verdict, and the facts that it rests on."""

from typing import NamedTuple

from railwright.check.account import subject_text
from railwright.check.findings import Findings
from railwright.check.reasons import behind, probes_beside, probes_of
from railwright.check.rule import Rule
from railwright.errors import UsageError
from railwright.schema.subjects import Subject
from railwright.schema.table import Table, tables
from railwright.store.duck import identifier

MOST_ROWS = 12


class Seen(NamedTuple):
    """Rows of one fact table."""

    table: str
    columns: list[str]
    rows: list[tuple[object, ...]]
    held: int  # how many there are; more than a few are left to `railwright sql`


class Explanation(NamedTuple):
    """What a rule said of one subject, and why."""

    verdict: dict[str, str | None]
    seen: list[Seen]
    answers: list[tuple[str, str, str, str]]  # machine, probe, instance, status


def _verdict(findings: Findings, rule: Rule, subject: str) -> dict[str, str | None]:
    names = ("verdict", "target", "observed", "expected", "detail")
    found = findings.database.execute(
        f"SELECT {', '.join(names)} FROM verdict WHERE rule = ? AND subject = ?", [rule.id, subject]
    ).fetchone()
    if found is None:
        near = findings.database.execute(
            "SELECT subject FROM verdict WHERE rule = ? AND subject IS NOT NULL "
            "ORDER BY levenshtein(subject, ?) LIMIT 3",
            [rule.id, subject],
        ).fetchall()
        raise UsageError(
            f"{rule.id} has no result for {subject!r}",
            do=f"Its subjects: {', '.join(name for (name,) in near) or 'none in this snapshot'}.",
        )
    told = dict(zip(names, found, strict=True))
    more = findings.database.execute(
        "SELECT if(verdict = 'fail', severity, ''), why FROM finding "
        "WHERE rule = ? AND subject = ?",
        [rule.id, subject],
    ).fetchone()
    return {**told, **dict(zip(("severity", "why"), more or ("", ""), strict=True))}


def _place(findings: Findings, rule: Rule, subject: str) -> dict[str, object]:
    """The subject's own columns, and those that name the same thing in other tables."""
    kind = rule.subject
    where = f"WHERE {subject_text(kind)} = ?" + (f" AND {kind.where}" if kind.where else "")
    names = ", ".join(map(identifier, kind.key))
    found = findings.database.execute(
        f"SELECT {names} FROM {identifier(kind.table)} {where}", [subject]
    ).fetchone()
    if found is None:
        return {}
    place: dict[str, object] = dict(zip(kind.key, found, strict=True))
    for known in ("device", "pci", "netdev", "name"):
        if known in place:
            column = "netdev" if known == "name" else known
            other = findings.database.execute(
                f"SELECT device, pci, netdev FROM port WHERE target = ? AND {column} = ?",
                [place["target"], place[known]],
            ).fetchone()
            if other is not None:
                place = {**dict(zip(("device", "pci", "netdev"), other, strict=True)), **place}
            break
    if "netdev" in place:
        place.setdefault("name", place["netdev"])
    return place


def _with_members(findings: Findings, place: dict[str, object]) -> dict[str, list[object]]:
    """Every name that the subject has; that of a bond is on its members too."""
    names = {name: [value] for name, value in place.items() if value is not None}
    members = findings.database.execute(
        "SELECT b.member, n.pci FROM bond_member AS b "
        "LEFT JOIN netdev AS n ON n.target = b.target AND n.name = b.member "
        "WHERE b.target = ? AND b.bond = ? ORDER BY b.member",
        [place["target"], place.get("netdev")],
    ).fetchall()
    for member, pci in members:
        for name, value in (("netdev", member), ("name", member), ("pci", pci)):
            if value is not None and value not in names.setdefault(name, []):
                names[name].append(value)
    return names


def _rows(
    findings: Findings,
    kind: Subject,
    table: Table,
    wanted: list[str],
    place: dict[str, list[object]],
) -> Seen:
    columns = list(dict.fromkeys([*(k for k in table.key if k != "target"), *wanted]))
    names = ", ".join(map(identifier, columns))
    query = f"FROM {identifier(table.name)} WHERE target = ?"
    values: list[object] = [*place["target"]]
    for name in ("pci", "device", "port", "netdev", "name"):
        is_name = name != "name" or table.name in ("netdev", "ip_link", kind.table)
        if name in table.key and name in place and is_name:
            query += f" AND list_contains(?, {identifier(name)})"
            values.append(place[name])
    found = findings.database.execute(f"SELECT {names} {query}", values).fetchmany(MOST_ROWS + 1)
    if len(found) <= MOST_ROWS:
        return Seen(table.name, columns, found, len(found))
    counted = findings.database.execute(f"SELECT count(*) {query}", values).fetchone()
    return Seen(table.name, columns, [], counted[0] if counted else 0)


def explain(findings: Findings, rule: Rule, subject: str) -> Explanation:
    """Everything about one verdict; the findings come from a run with `each`."""
    verdict = _verdict(findings, rule, subject)
    found = _place(findings, rule, subject)
    place = _with_members(findings, {"target": verdict["target"], **found})
    wanted: dict[str, list[str]] = {}
    for need in behind([*rule.needs, *rule.uses]):
        table, _, column = need.rpartition(".")
        if table in tables():
            wanted.setdefault(table, []).append(column)
    seen = [
        _rows(findings, rule.subject, tables()[name], columns, place)
        for name, columns in wanted.items()
    ]
    asked = [name for k in ("pci", "netdev", "device") for name in place.get(k, ())]
    instances = ["", *(str(name) for name in asked if name)]
    answers = findings.database.execute(
        "SELECT target, probe, instance, status FROM probe_result WHERE target = $1 "
        "AND list_contains($2, probe) AND list_contains($3, instance) ORDER BY probe, instance",
        [verdict["target"], [*probes_of(rule), *probes_beside(rule)], instances],
    ).fetchall()
    return Explanation(verdict, seen, answers)
