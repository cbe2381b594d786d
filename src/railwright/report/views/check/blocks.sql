-- Rules with open findings: the worst first, then the costliest. What a finding explains counts as part of it.
with explained as (
    select cause as rule, min(rank) as rank, arg_min(severity, rank) as severity
    from finding
    where state = 'implied'
    group by cause
),

blocks as (
    select
        rule,
        min(rank) as rank,
        arg_min(severity, rank) as severity,
        count(*)::bigint as subjects,
        count(distinct target) as hosts,
        sum(cost_gbps::decimal(18, 1))::double as cost, -- exact: doubles differ with the order
        count(cost_gbps)::bigint as priced
    from finding
    where verdict = 'fail' and state = 'open'
    group by rule
)

select b.rule, case when e.rank < b.rank then e.severity else b.severity end as severity, b.subjects, b.hosts, b.cost, b.priced
from blocks as b
left join explained as e on e.rule = b.rule
order by least(b.rank, e.rank), nullif(b.cost, 0) desc nulls last, b.subjects desc, b.rule
