-- SONiC trusts what a port has a map for. `both` takes the DSCP of IP packets, as dscp does.
with told as (
    select
        target,
        port,
        max(trust) as trust,
        max(dscp_map) as dscp_map,
        max(dscp_map || pcp_map || traffic_class_map || class_group_map || priority_queue_map || pfc_priorities) <> '' as has_entry
    from switch_port_qos
    group by target, port
),

maps as (
    select target, case when count(distinct dscp_map) = 1 then max(dscp_map) end as dscp_map
    from told
    where dscp_map <> '' and port <> ''
    group by target
)

select
    e.target,
    e.port,
    acting_trust(e.trust) as now,
    s.trust as wanted,
    case
        when w.system = 'sonic' and s.trust <> 'dscp' then 'SONiC: only dscp can be set here'
        when w.system = 'sonic' and not o.has_entry then 'the port has no entry in PORT_QOS_MAP: bind its maps first'
        when w.system = 'sonic' and m.dscp_map is null then 'its other ports do not tell which DSCP map to bind'
        when w.system = 'cumulus' and o.trust <> a.trust then 'the port has a mapping profile of its own: set that by hand'
        when e.role in ('compute', 'fabric') and (w.system <> 'sonic' or o.has_entry) and e.trust in ('dscp', 'both', 'pcp', 'port') then ''
    end as refused,
    m.dscp_map
from end_scope as e
cross join site as s
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
left join told as o on o.target = e.target and o.port = e.port
left join told as a on a.target = e.target and a.port = ''
left join maps as m on m.target = e.target
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
