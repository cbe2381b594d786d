with ends as (
    select e.*, w.system, s.cnp_dscp, s.cnp_priority, c.scheduler = 'strict' as is_strict, o.dscp_map
    from end_scope as e
    cross join site as s
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.cnp_priority
    left join (select target, port, max(dscp_map) as dscp_map from switch_port_qos group by target, port) as o
        on o.target = e.target and o.port = e.port
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
),

usual as (
    select cohort, usual_of(is_strict) as is_strict from ends group by cohort
)

select
    e.target,
    e.port,
    e.cnp_class as now,
    e.cnp_priority as wanted,
    case
        when e.dscp_classes = '' then 'the port does not go by DSCP: set switch.trust first'
        when e.cnp_priority = e.data_class then 'the class of CNPs has RoCE data too: the site file has to separate them'
        when (e.pfc_mask >> e.cnp_priority) & 1 = 1 then 'the class of CNPs has PFC: set switch.pfc first'
        when e.cnp_class = -1 then 'its map has no entry for the DSCP of CNPs: add it by hand'
        when not e.is_strict and u.is_strict then 'the queue of CNPs is not strict as on its peers: set switch.scheduler first'
        when e.role in ('compute', 'fabric') and e.pfc_mask is not null and (e.system <> 'sonic' or e.dscp_map <> '') then ''
    end as refused,
    e.dscp_map,
    e.cnp_dscp
from ends as e
left join usual as u on u.cohort = e.cohort
