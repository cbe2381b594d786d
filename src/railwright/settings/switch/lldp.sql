-- Links are known by what both ends say: a switch that is silent has no neighbors here.
select
    t.target,
    case
        when bool_or(w.lldp_enabled) then 'on' -- null: one answer that tells it is enough
        when any_known(w.lldp_enabled) = false then 'off'
        when n.target is not null then 'on'
    end as now,
    'on' as wanted,
    '' as refused
from target as t
left join switch as w on w.target = t.target
left join (select distinct target from switch_neighbor) as n on n.target = t.target
where t.kind = 'switch'
group by t.target, n.target
