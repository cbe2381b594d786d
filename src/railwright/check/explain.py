"""One rule at one subject: its verdict, the facts it rests on, and the answers they came from."""

from typing import NamedTuple

from railwright.check.account import subject_text
from railwright.check.facts_at import Place, Seen, inputs_of, places_of, rows_of, words_of
from railwright.check.findings import Findings
from railwright.check.reasons import behind, probes_behind
from railwright.check.rule import Rule
from railwright.check.tables import all_tables
from railwright.schema.table import intent_tables
from railwright.store.duck import identifier
from railwright.store.snapshot import make_view


class Answer(NamedTuple):
    """An answer of a probe, and which inputs of the rule were read from it."""

    target: str
    probe: str
    instance: str  # '' = the only one, or all of them
    status: str
    tables: tuple[str, ...]


class Explanation(NamedTuple):
    """What a rule said of one subject, and why."""

    subject: str
    verdict: dict[str, str | None]
    seen: list[Seen]
    answers: list[Answer]


def _verdict(findings: Findings, rule: Rule, subject: str) -> dict[str, str | None]:
    names = ("verdict", "target", "observed", "expected", "detail")
    found = findings.database.execute(
        f"SELECT {', '.join(names)} FROM verdict WHERE rule = ? AND subject = ?", [rule.id, subject]
    ).fetchall()[0]
    told = dict(zip(names, found, strict=True))
    more = findings.database.execute(
        "SELECT if(verdict = 'fail', severity, ''), state, why FROM finding "
        "WHERE rule = ? AND subject = ?",
        [rule.id, subject],
    ).fetchone()
    return {**told, **dict(zip(("severity", "state", "why"), more or ("", "", ""), strict=True))}


def _key(findings: Findings, rule: Rule, subject: str) -> dict[str, object]:
    """The subject's own columns; none of a machine that told of no subject."""
    kind = rule.subject
    where = f"WHERE {subject_text(kind)} = ?" + (f" AND {kind.where}" if kind.where else "")
    names = ", ".join(map(identifier, kind.key))
    found = findings.database.execute(
        f"SELECT {names} FROM {identifier(kind.table)} {where}", [subject]
    ).fetchone()
    return dict(zip(kind.key, found, strict=True)) if found else {}


def show_intent(findings: Findings) -> None:
    """What the site wants, beside the facts."""
    for name in intent_tables():
        if name != "declared_role":  # is there already
            make_view(findings.database, name, findings.intent / f"{name}.parquet")


def explain(findings: Findings, rule: Rule, subject: str) -> Explanation:
    """Everything about one verdict; `show_intent` comes first."""
    verdict = _verdict(findings, rule, subject)
    target = verdict["target"] or ""
    key = _key(findings, rule, subject)
    places = places_of(findings, target, key, with_partner=rule.subject.kind == "end")
    wanted = inputs_of(behind([*rule.needs, *rule.uses]))
    words = words_of(rule, verdict)
    seen = [
        rows_of(findings, all_tables()[name], columns, places, words)
        for name, columns in wanted.items()
    ]
    return Explanation(subject, verdict, seen, _answers(findings, list(wanted), places, seen))


def _answers(
    findings: Findings, names: list[str], places: list[Place], seen: list[Seen]
) -> list[Answer]:
    """One line per answer: of a probe that is asked of each device, the subject's own."""
    fed = probes_behind(names)
    shown = {str(v) for one in seen for row in one.rows for v in row if isinstance(v, str)}
    found: list[Answer] = []
    for place in places:
        rows = findings.database.execute(
            "SELECT probe, instance, status FROM probe_result WHERE target = ? ORDER BY ALL",
            [place.target],
        ).fetchall()
        by_probe: dict[str, list[tuple[str, str]]] = {}
        for probe, instance, status in rows:
            by_probe.setdefault(probe, []).append((instance, status))
        for probe, tables in fed.items():
            answers = by_probe.get(probe, [])
            own = [one for one in answers if one[0] in place.own]
            near = own or [one for one in answers if place.own and one[0] in shown - {""}]
            if not near and len(answers) > 1:
                states = {status for _, status in answers}
                near = [("", states.pop() if len(states) == 1 else "several")]
            found += [Answer(place.target, probe, i, s, tables) for i, s in near or answers]
    return found
