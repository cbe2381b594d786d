-- The site file names a speed for ports of compute hosts only; for links between switches it has no key.
select
    e.target,
    e.port,
    case when w.system = 'sonic' then e.speed_asked_mbps else e.speed_mbps end as now,
    case when e.role = 'compute' and not n.unconfirmed then (n.port_rate_gbps * 1000)::integer end as wanted,
    case
        when e.trouble <> '' then 'its link partner is not certain: look first'
        when e.autonegotiation then 'it negotiates: look at the cable, the module and the other end first'
        when not n.port_rate_gbps in (10, 25, 40, 50, 100, 200, 400, 800) then 'the site file has a speed that no port has'
        when w.system = 'onyx' then 'no command for it is documented'
        when e.role in ('compute', 'fabric') and not e.autonegotiation and e.trouble = '' then ''
    end as refused
from end_scope as e
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
left join node_class as n on n.target = e.peer
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
