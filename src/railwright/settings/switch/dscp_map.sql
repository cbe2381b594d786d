-- DSCP=class of RoCE data, and of CNPs where the site names their priority too.
with site_map as (
    select data_dscp, data_priority, cnp_dscp, cnp_priority, cnp_dscp is not null and cnp_priority is not null as has_cnp from site
)

select
    e.target,
    e.port,
    s.data_dscp || '=' || e.data_class || case when s.has_cnp then ',' || s.cnp_dscp || '=' || e.cnp_class else '' end as now,
    s.data_dscp || '=' || s.data_priority || case when s.has_cnp then ',' || s.cnp_dscp || '=' || s.cnp_priority else '' end as wanted,
    case
        when e.dscp_classes = '' then 'the port does not go by DSCP: set switch.trust first'
        when e.data_class = -1 or (s.has_cnp and e.cnp_class = -1) then 'its map has no entry for a DSCP of the site: add it by hand'
        when e.role in ('compute', 'fabric') and (w.system <> 'sonic' or o.dscp_map <> '') then ''
    end as refused,
    o.dscp_map,
    s.data_dscp,
    s.data_priority,
    e.data_class,
    s.cnp_dscp,
    s.cnp_priority,
    e.cnp_class,
    e.data_class <> s.data_priority as moves_data,
    case when s.has_cnp then e.cnp_class <> s.cnp_priority else false end as moves_cnp
from end_scope as e
cross join site_map as s
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
left join (select target, port, max(dscp_map) as dscp_map from switch_port_qos group by target, port) as o
    on o.target = e.target and o.port = e.port
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
