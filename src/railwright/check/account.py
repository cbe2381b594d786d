"""One rule over all subjects, every one accounted for in a single pass."""

from collections.abc import Iterable

from railwright.check.rule import OPTIONAL, Rule
from railwright.check.tables import SILENT
from railwright.schema.subjects import Subject
from railwright.store.duck import identifier, quote

# applies and fault are three-valued, and NULL of either is unknown.
_VERDICT = """
    CASE WHEN applies IS NULL THEN 'unknown'
         WHEN NOT applies THEN 'not applicable'
         WHEN fault IS NULL THEN 'unknown'
         WHEN fault THEN 'fail'
         ELSE 'ok' END
"""
# Of several rows of one subject; the detail makes the choice among equals the same in every run.
_WORST = "list_position(['fail', 'unknown', 'ok', 'not applicable'], verdict), detail"
# What each rule writes; the counts of `ok` and `not applicable` are rows without a subject.
COLUMNS = (
    *("rule", "verdict", "target", "subject", "observed", "expected"),
    *OPTIONAL,
    "subjects",
)


def subject_text(subject: Subject, alias: str = "") -> str:
    """`gpu017:mlx5_3#3` as SQL over the key columns."""
    parts = []
    for before, name, behind in subject.parts():
        column = f"{alias}{identifier(name)}"
        text = f"{column}::VARCHAR"
        text = f"{quote(before)} || {text}" if before else text
        text = f"{text} || {quote(behind)}" if behind else text
        if name in subject.unsaid:
            text = f"CASE WHEN {column} = {subject.unsaid[name]} THEN '' ELSE {text} END"
        parts.append(text)
    return " || ".join(parts)


_TOLD_OF = "verdict IN ('fail', 'unknown')"


def verdicts(  # noqa: PLR0913
    rule: Rule,
    query: str,
    *,
    each: bool = False,
    named: Iterable[str] = (),
    alike: str = "",
    few: bool = False,
) -> str:
    """All verdicts of a rule: one row per subject that failed or is unknown, one per other verdict.

    The one pass: subjects that are in order have NULL in every column, and fall into one group.
    With `each`, nothing is folded: every subject shows its verdict; on machines that are `named`
    they always do. `alike` is a table of machines that stand for others: their verdicts count for
    all of them. Where subjects are `few`, they are kept and gone through twice, which takes less
    planning.
    """
    listed = f"[{', '.join(map(quote, sorted(named)))}]::VARCHAR[]"
    told_of = (
        "true"
        if each
        else f"({_TOLD_OF} OR target IN ({', '.join(map(quote, sorted(named)))}))"
        if named
        else _TOLD_OF
    )
    judged = f"SELECT *, {_VERDICT} AS verdict, 1 AS subjects FROM (\n{query}\n)"
    if rule.several:
        keys = ", ".join(identifier(name) for name in rule.subject.key)
        judged = (
            f"FROM ({judged}) QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {_WORST}) = 1"
        )
    if alike:
        apart = f"({_TOLD_OF} OR list_has_any({listed}, members))" if named else told_of
        judged = f"""
            SELECT * EXCLUDE (example, members)
                REPLACE (
                    unnest(CASE WHEN {apart} THEN members ELSE [example] END) AS target,
                    CASE WHEN {apart} THEN 1 ELSE len(members) END AS subjects
                )
            FROM ({judged}) AS j
            INNER JOIN {alike} AS a ON a.example = j.target
        """
    told = {
        "target": "target",
        "subject": subject_text(rule.subject),
        "observed": "observed::VARCHAR",
        "expected": "expected::VARCHAR",
    }
    given = rule.optional
    for name, kind in OPTIONAL.items():
        told[name] = f"{identifier(name) if name in given else 'NULL'}::{kind}"
    if few and not each:
        shown = ", ".join(f"{sql} AS {name}" for name, sql in told.items())
        return f"""
            WITH judged AS MATERIALIZED ({judged})
            SELECT {quote(rule.id)} AS rule, verdict, {shown}, 1::BIGINT AS subjects
            FROM judged WHERE {told_of}
            UNION ALL BY NAME
            SELECT {quote(rule.id)} AS rule, verdict, count(*) AS subjects
            FROM judged WHERE NOT {told_of} GROUP BY verdict
        """
    shown = ",\n".join(
        f"CASE WHEN {told_of} THEN {sql} END AS {name}" for name, sql in told.items()
    )
    return (
        f"SELECT {quote(rule.id)} AS rule, verdict, {shown}, sum(subjects)::BIGINT AS subjects\n"
        f"FROM ({judged})\nGROUP BY ALL"
    )


def silent_targets(rule: Rule) -> str:
    """`target:*` for each of them: a machine that is dead never vanishes."""
    nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in OPTIONAL.items())
    return f"""
        SELECT {quote(rule.id)} AS rule, 'unknown' AS verdict, target, target || ':*' AS subject,
            NULL::VARCHAR AS observed, NULL::VARCHAR AS expected, {nothing}, 1::BIGINT AS subjects
        FROM (SELECT DISTINCT target FROM {SILENT} AND probe = {quote(rule.subject.probe)})
    """
