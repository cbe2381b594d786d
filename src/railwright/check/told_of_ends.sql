-- What rules say of some subjects. Verdicts that count as judged: what is waived or accepted was seen, and somebody has decided.
select
    v.rule,
    v.subject,
    v.verdict,
    coalesce(f.state, ''),
    coalesce(f.severity, ''),
    f.observed,
    f.expected,
    coalesce(f.why, ''),
    f.classes
from verdict as v
left join finding as f on f.rule = v.rule and f.subject = v.subject and f.verdict = v.verdict
where list_contains($subjects, v.subject) and v.verdict <> 'not applicable'
order by f.rank, v.rule
