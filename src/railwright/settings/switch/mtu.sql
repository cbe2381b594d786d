-- A port that has more keeps it: the site's value is the least.
select
    e.target,
    e.port,
    e.mtu as now,
    case when e.mtu > s.switch_mtu then e.mtu else s.switch_mtu end as wanted,
    case
        when s.switch_mtu not between 68 and 9216 then 'the site file has a value that no system takes'
        when w.system = 'sonic' and starts_with(p.mode, 'PortChannel') then 'it belongs to ' || p.mode || ': set the MTU there'
        when w.system = 'eos' and p.mode <> 'routed' then 'EOS takes an MTU for routed ports only'
        when w.system in ('sonic', 'eos') and p.mode is null then null
        when e.role in ('compute', 'fabric') then ''
    end as refused
from end_scope as e
cross join site as s
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
left join (select target, port, max(vlan_mode) as mode from switch_port group by target, port) as p
    on p.target = e.target and p.port = e.port
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
