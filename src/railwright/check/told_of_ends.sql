-- What rules say of some subjects. Verdicts that count as judged: what is waived or accepted was seen, and somebody has decided.
with bond as (
    select target || ':' || device || '/' || device_port as subject, list(port) as ports
    from link_end
    where list_contains($subjects, target || ':' || device || '/' || device_port)
    group by all
)

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
    list_intersect(string_split(f.detail, ', '), b.ports)
from verdict as v
left join finding as f on f.rule = v.rule and f.subject = v.subject and f.verdict = v.verdict
left join bond as b on b.subject = v.subject
where list_contains($subjects, v.subject) and v.verdict <> 'not applicable'
order by f.rank, v.rule
