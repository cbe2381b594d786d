-- The ports of a switch, as links and paths see them: what several answers tell about one is reconciled already.
select
    e.port,
    e.is_up,
    e.speed_mbps as speed,
    e.fec,
    e.mtu,
    e.trust,
    case e.pfc_mask
        when 0 then 'none'
        else array_to_string([x for x in range(8) if e.pfc_mask & (1 << x) <> 0], ',')
    end as priorities,
    n.heard
from (from own_end where target = $target and kind = 'switch') as e
left join (
    select
        port,
        string_agg(system_name || ' ' || coalesce(nullif(port_description, ''), port_id), ', ' order by place) as heard
    from switch_neighbor
    where target = $target
    group by port
) as n using (port)
order by length(e.port), e.port
