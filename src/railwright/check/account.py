"""One rule over all subjects, every one accounted for in a single pass."""

from string import Formatter

from railwright.check.rule import OPTIONAL, Rule
from railwright.facts.duck import identifier, quote
from railwright.facts.subjects import Subject

# applies and fault are three-valued, and NULL of either is unknown.
_VERDICT = """
    CASE WHEN applies IS NULL THEN 'unknown'
         WHEN NOT applies THEN 'not applicable'
         WHEN fault IS NULL THEN 'unknown'
         WHEN fault THEN 'fail'
         ELSE 'ok' END
"""
# What each rule writes; the counts of `ok` and `not applicable` are rows without a subject.
COLUMNS = (
    *("rule", "verdict", "target", "subject", "observed", "expected"),
    *("detail", "inferred", "cost_gbps", "subjects"),
)


def subject_text(subject: Subject, alias: str = "") -> str:
    """`gpu017:mlx5_3#3` as SQL over the key columns."""
    parts = []
    for before, name, _, _ in Formatter().parse(subject.text):
        if before:
            parts.append(quote(before))
        if name:
            parts.append(f"{alias}{identifier(name)}::VARCHAR")
    return " || ".join(parts)


def verdicts(rule: Rule, query: str, columns: list[str], *, each: bool = False) -> str:
    """All verdicts of a rule: one row per subject that failed or is unknown, one per other verdict.

    The one pass: subjects that are in order have NULL in every column, and fall into one group.
    With `each`, nothing is folded: every subject shows its verdict.
    """
    told_of = "true" if each else "verdict IN ('fail', 'unknown')"
    optional = {
        name: identifier(name) if name in columns else "NULL::" + kind
        for name, kind in zip(OPTIONAL, ("VARCHAR", "BOOLEAN", "DOUBLE"), strict=True)
    }
    told = {
        "target": "target",
        "subject": subject_text(rule.subject),
        "observed": "observed::VARCHAR",
        "expected": "expected::VARCHAR",
        "detail": f"{optional['detail']}::VARCHAR",
        "inferred": f"{optional['inferred']}::BOOLEAN",
        "cost_gbps": f"{optional['cost_gbps']}::DOUBLE",
    }
    shown = ",\n".join(
        f"CASE WHEN {told_of} THEN {sql} END AS {name}" for name, sql in told.items()
    )
    return (
        f"SELECT {quote(rule.id)} AS rule, verdict, {shown}, count(*) AS subjects\n"
        f"FROM (SELECT *, {_VERDICT} AS verdict FROM (\n{query}\n))\nGROUP BY ALL"
    )


def silent_targets(rule: Rule) -> str:
    """`target:*` for each of them: a machine that is dead never vanishes."""
    return f"""
        SELECT {quote(rule.id)} AS rule, 'unknown' AS verdict, target, target || ':*' AS subject,
            NULL::VARCHAR AS observed, NULL::VARCHAR AS expected, NULL::VARCHAR AS detail,
            NULL::BOOLEAN AS inferred, NULL::DOUBLE AS cost_gbps, 1::BIGINT AS subjects
        -- `absent` is an answer: there is no such thing on that machine.
        FROM (SELECT DISTINCT target FROM gap
              WHERE probe = {quote(rule.subject.probe)} AND nothing_read AND status <> 'absent')
    """
