-- Probes and commands that did not answer in both snapshots, at machines that are in both. What is absent in both is the same in both.
with sides as (
    select target, probe, instance, 'before' as side, status
    from before.probe_result
    semi join compared_target using (target)
    where target in (from answered_otherwise) or status not in ('ok', 'absent')
    union all
    select target, probe, instance, 'now' as side, status
    from now.probe_result
    semi join compared_target using (target)
    where target in (from answered_otherwise) or status not in ('ok', 'absent')
),

pairs as (
    select
        s.target,
        s.probe,
        s.instance,
        t.kind = 'switch' as is_switch,
        coalesce(bool_or(s.status = 'ok') filter (s.side = 'before'), false) as b,
        coalesce(bool_or(s.status = 'ok') filter (s.side = 'now'), false) as n,
        count(distinct s.side) as sides,
        bool_and(s.status = 'absent') as is_absent
    from sides as s
    inner join now.target as t on t.target = s.target
    group by all
),

-- A device that is not there is asked nothing; a probe that one of the two never asked is a gap.
probes as (
    select target, probe, count(distinct side) as sides
    from sides
    group by all
)

select
    case when p.is_switch and p.instance <> '' then p.probe || ' "' || p.instance || '"' else p.probe end as probe,
    case when p.b then 'now' when p.n then 'before' else 'both' end as side,
    list(distinct p.target order by p.target) as targets
from pairs as p
inner join probes as a on a.target = p.target and a.probe = p.probe
where
    (p.b <> p.n and (p.sides = 2 or p.is_switch or p.instance = '' or a.sides = 1))
    or (not p.b and not p.n and not p.is_absent)
group by all
order by 1, 2
