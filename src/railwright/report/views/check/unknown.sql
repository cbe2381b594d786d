-- Why something is unknown that nobody accepted: rules, verdicts, machines, and whether reading again would bring nothing.
select
    why,
    string_agg(distinct rule, ',' order by rule),
    sum(n)::bigint,
    list(distinct target),
    bool_and(reason = 'elsewhere')
from (
    select rule, target, why, reason, count(*) as n
    from finding
    where verdict = 'unknown' and state = 'open' and reason <> 'not_reported'
    group by all
)
group by why
order by count(distinct target) desc, why
