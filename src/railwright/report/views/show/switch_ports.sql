-- The ports of a switch. Several answers tell about one: what is in force goes before what is configured.
select p.port, p.is_up, p.speed, p.fec, p.mtu, q.trust, f.priorities, n.heard
from (
    select
        port,
        first(is_up order by probe like '%config%') filter (is_up is not null) as is_up,
        first(speed_mbps order by probe like '%config%') filter (speed_mbps is not null) as speed,
        first(coalesce(fec_active, fec_configured) order by probe like '%config%')
            filter (coalesce(fec_active, fec_configured) is not null) as fec,
        first(mtu order by probe like '%config%') filter (mtu is not null) as mtu
    from switch_port
    where target = $target
    group by port
) as p
left join (
    select port, first(trust order by probe like '%config%') filter (trust is not null) as trust
    from switch_port_qos
    where target = $target
    group by port
) as q using (port)
left join (
    select port, coalesce(string_agg(priority::varchar, ',' order by priority) filter (enabled), 'none') as priorities
    from (
        select port, priority, first(enabled order by probe like '%config%') filter (enabled is not null) as enabled
        from switch_pfc
        where target = $target
        group by port, priority
    )
    group by port
    having count(enabled) = count(*)
) as f using (port)
left join (
    select
        port,
        string_agg(system_name || ' ' || coalesce(nullif(port_description, ''), port_id), ', ' order by place) as heard
    from switch_neighbor
    where target = $target
    group by port
) as n using (port)
order by length(p.port), p.port
