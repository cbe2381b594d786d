with whole as (
    select
        e.target,
        e.read_at,
        e.port,
        e.kind,
        e.system,
        e.device,
        e.device_port,
        case
            when e.kind = 'host' then e.port_role
            when a.peer_kind = 'switch' then 'fabric'
            -- A host of which that port was not read is taken for one that computes or stores.
            when a.peer_kind = 'host' then case when o.port_role in ('management', 'unused') or (o.port is null and n.name is not null) then 'other' else 'host' end
            when a.peer_kind is not null then 'other'
        end as role,
        case e.kind when 'host' then 0 else t.tier end as tier,
        case
            when a.peer_kind = '' then ''
            when e.kind = 'host' then case when a.peer_kind = 'switch' then 'up' when a.peer_kind = 'host' then 'side' end
            when a.peer_kind = 'host' then 'down'
            when p.tier > t.tier then 'up'
            when p.tier < t.tier then 'down'
            when p.tier = t.tier then 'side'
        end as facing,
        a.peer,
        a.peer_port,
        a.peer_kind,
        a.told_by,
        a.trouble,
        e.* exclude (target, read_at, port, kind, system, device, device_port, port_role, rail, plane, alias, mac, lldp_read)
    from own_end as e
    inner join adjacency as a on a.target = e.target and a.port = e.port
    left join switch_place as t on t.target = e.target
    left join switch_place as p on p.target = a.peer
    left join own_end as o on o.target = a.peer and o.port = a.peer_port
    left join netdev as n on n.target = a.peer and n.name = a.peer_port
)

select
    *,
    kind || ' ' || (case kind when 'host' then role else system end) || ', tier ' || tier || ' ' || facing || ', ' || (speed_mbps // 1000) || 'G' as cohort
from whole
