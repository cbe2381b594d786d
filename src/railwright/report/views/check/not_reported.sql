-- What a system does not report, without what of it was accepted.
select
    n.system,
    n.fact,
    string_agg(distinct n.rule, ',' order by n.rule),
    count(distinct n.subject)::bigint,
    list(distinct n.target)
from not_reported as n
inner join finding as f on f.rule = n.rule and f.subject = n.subject
where f.state = 'open' and f.reason = 'not_reported' and n.number is null
group by n.system, n.fact
order by 1, 2
