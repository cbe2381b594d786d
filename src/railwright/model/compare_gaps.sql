-- A probe that answered in one snapshot only, on hosts of both.
with sides as (
    select target, probe, 'before' as side, bool_or(status = 'ok') as ok
    from before.probe_result
    semi join answered_otherwise using (target)
    group by all
    union all
    select target, probe, 'now' as side, bool_or(status = 'ok') as ok
    from now.probe_result
    semi join answered_otherwise using (target)
    group by all
),

pairs as (
    select
        target,
        probe,
        coalesce(bool_or(ok) filter (side = 'before'), false) as b,
        coalesce(bool_or(ok) filter (side = 'now'), false) as n
    from sides
    group by all
)

select probe, case when b then 'now' else 'before' end as side, list(target order by target) as targets
from pairs
where b <> n
group by all
order by 1, 2
