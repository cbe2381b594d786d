-- Cumulus and Onyx have one list of priorities for all ports: port ''.
with told as (
    select
        target,
        port,
        max(pfc_mode) as mode,
        max(case when pfc_priorities = '' then 'none' else pfc_priorities end) as priorities,
        max(pfc_rx) as rx,
        max(pfc_tx) as tx,
        max(dscp_map || traffic_class_map || class_group_map || priority_queue_map || pfc_priorities) <> '' as has_entry
    from switch_port_qos
    group by target, port
)

select
    e.target,
    e.port,
    priorities_of(e.pfc_mask) as now,
    priorities_of(s.pfc_mask) as wanted,
    case
        when w.system = 'sonic' and not o.has_entry then 'the port has no entry in PORT_QOS_MAP: bind its maps first'
        when w.system = 'cumulus' and o.priorities <> a.priorities then 'the port has a PFC profile of its own: set that by hand'
        when w.system = 'cumulus' and s.pfc_mask = 0 then 'the RoCE mode of the switch decides: set switch.roce_mode'
        when o.mode = 'auto' then 'the port takes PFC from its link partner: set its mode by hand'
        when e.role in ('compute', 'fabric') then case w.system
            when 'sonic' then case when o.has_entry then '' end
            when 'cumulus' then case when a.priorities is not null and a.rx is not null and a.tx is not null then '' end
            when 'eos' then case when o.mode is not null and o.priorities is not null then '' end
            when 'onyx' then case when o.mode is not null and a.mode is not null and a.priorities is not null then '' end
        end
    end as refused,
    case when w.system = 'eos' then o.priorities else a.priorities end as listed,
    case when w.system = 'eos' then o.priorities else a.priorities end <> 'none' as had_list,
    o.mode = 'off' as was_off,
    a.mode = 'off' as was_off_everywhere,
    case when a.rx then 'on' when not a.rx then 'off' end as rx,
    case when a.tx then 'on' when not a.tx then 'off' end as tx
from end_scope as e
cross join site as s
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
left join told as o on o.target = e.target and o.port = e.port
left join told as a on a.target = e.target and a.port = ''
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
