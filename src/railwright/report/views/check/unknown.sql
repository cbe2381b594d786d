-- Why something is inconclusive that nobody accepted: rules, verdicts, machines, whether reading again would bring nothing, and
-- the status of machines that were not reached. What probes did not tell is one line for all that failed in the same way.
with opened as (
    select f.rule, f.target, f.why, f.reason, count(*) as n, bool_or(s.target is not null) as by_probe
    from finding as f
    left join silent_probe as s
        on f.reason = 'not_collected' and s.target = f.target and s.rule = f.rule and f.why in (s.said, s.said_beside)
    where f.verdict = 'unknown' and f.state = 'open' and f.reason <> 'not_reported'
    group by f.rule, f.target, f.why, f.reason
),

missed as (
    select distinct o.target, o.rule, g.probe, g.status, p.is_needed
    from opened as o
    inner join rule_probe as p on p.rule = o.rule
    inner join gap as g on g.target = o.target and g.probe = p.probe and (g.status <> 'absent' or g.nothing_read)
    where o.by_probe
    -- Those that are not always asked are named only where the others have answered, as in findings.sql.
    qualify p.is_needed = max(p.is_needed) over (partition by o.target, o.rule)
),

keyed as (
    select target, rule, string_agg(distinct status, ', ' order by status) as statuses
    from missed
    group by target, rule
),

listed as (
    select k.target, k.statuses, m.status, list_sort(list(distinct m.probe)) as probes
    from keyed as k
    inner join missed as m on m.target = k.target and m.rule = k.rule
    group by k.target, k.statuses, m.status
),

worded as (
    select
        target,
        statuses,
        string_agg(
            case
                when len(probes) <= 4 then array_to_string(probes, ', ')
                else array_to_string(probes[1:3], ', ') || ', … (' || len(probes) || ' probes)'
            end || ' ' || status,
            '; ' order by status
        ) as words
    from listed
    group by target, statuses
)

select
    coalesce(w.words, o.why),
    string_agg(distinct o.rule, ',' order by o.rule),
    sum(o.n)::bigint,
    list(distinct o.target),
    bool_and(o.reason = 'elsewhere'),
    case when o.reason = 'not_reached' then t.status end
from opened as o
left join keyed as k on k.target = o.target and k.rule = o.rule
left join worded as w on w.target = k.target and w.statuses = k.statuses
left join target as t on t.target = o.target
group by coalesce(w.words, o.why), case when o.reason = 'not_reached' then t.status end
order by count(distinct o.target) desc, 1
