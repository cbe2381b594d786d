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
    f.classes,
    -- Of a bond: the members that it is about, if it names some.
    list_intersect(
        string_split(f.detail, ', '),
        (select list(e.port) from link_end as e where e.target || ':' || e.device || '/' || e.device_port = v.subject)
    )
from verdict as v
left join finding as f on f.rule = v.rule and f.subject = v.subject and f.verdict = v.verdict
where list_contains($subjects, v.subject) and v.verdict <> 'not applicable'
order by f.rank, v.rule
