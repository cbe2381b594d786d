-- Rules with open findings, the costliest first, then the worst.
select
    rule,
    arg_min(severity, rank) as severity,
    count(*)::bigint as subjects,
    count(distinct target) as hosts,
    sum(cost_gbps::decimal(18, 1))::double as cost, -- exact: doubles differ with the order
    count(cost_gbps)::bigint as priced
from finding
where verdict = 'fail' and state = 'open'
group by rule
order by nullif(cost, 0) desc nulls last, min(rank), count(*) desc, rule
