-- Of each column of a switch the value in force counts, then the configured one, and what is known before NULL
-- (as in port_class). A hexadecimal digit per DSCP holds the class plus 1: 0 = the map has no entry, 9 = not
-- understood; so a map is a text without sorting 64 rows of each of some 100,000 ends.
with shown as (
    select
        target,
        port,
        max(read_at) as read_at,
        max(alias) as alias,
        max(mac) as mac,
        coalesce(max(admin_up) filter (probe <> 'sonic_config_db'), max(admin_up)) as admin_up,
        coalesce(max(is_up) filter (probe <> 'sonic_config_db'), max(is_up)) as is_up,
        coalesce(max(speed_mbps) filter (probe <> 'sonic_config_db'), max(speed_mbps)) as speed_mbps,
        max(speed_mbps) filter (probe = 'sonic_config_db') as speed_asked_mbps,
        coalesce(max(lanes) filter (probe <> 'sonic_config_db'), max(lanes)) as lanes,
        coalesce(max(fec_active) filter (probe <> 'sonic_config_db'), max(fec_active)) as fec_active,
        coalesce(max(fec_configured) filter (probe <> 'sonic_config_db'), max(fec_configured)) as fec_configured,
        coalesce(max(autonegotiation) filter (probe <> 'sonic_config_db'), max(autonegotiation)) as autonegotiation,
        coalesce(max(mtu) filter (probe <> 'sonic_config_db'), max(mtu)) as mtu,
        coalesce(max(pause_rx) filter (probe <> 'sonic_config_db'), max(pause_rx)) as pause_rx,
        coalesce(max(pause_tx) filter (probe <> 'sonic_config_db'), max(pause_tx)) as pause_tx,
        max(cable_length_m) filter (cable_length_kind = 'assembly') as assembly_m,
        max(cable_length_m) filter (cable_length_kind = 'configured') as configured_m,
        max(cable_length_m) filter (cable_length_kind = 'rated reach') as reach_m
    from switch_port
    group by target, port
),

sorting as (
    select
        target,
        port,
        coalesce(max(trust) filter (probe <> 'sonic_config_db'), max(trust)) as trust,
        max(dscp_map) as dscp_map,
        coalesce(max(pfc_mode) filter (probe <> 'sonic_config_db'), max(pfc_mode)) as pfc_mode,
        coalesce(max(pfc_priorities) filter (probe <> 'sonic_config_db'), max(pfc_priorities)) as pfc_priorities,
        coalesce(max(watchdog) filter (probe <> 'sonic_config_db'), max(watchdog)) as watchdog,
        max(watchdog_priorities) as watchdog_priorities,
        max(pfc_cable_length_m) as pfc_cable_length_m
    from switch_port_qos
    group by target, port
),

nibbles as (
    select target, map as name, dscp, case when class between 0 and 7 then class + 1 else 9 end as nibble
    from (
        select target, map, dscp, max(coalesce(traffic_class, priority)) as class
        from switch_dscp
        group by target, map, dscp
    )
),

maps as (
    select
        target,
        name,
        translate(
            lpad(to_hex(coalesce(bit_or(nibble::ubigint << (4 * (15 - dscp % 16))) filter (dscp < 16), 0)::ubigint), 16, '0') -- null: no entry
            || lpad(to_hex(coalesce(bit_or(nibble::ubigint << (4 * (15 - dscp % 16))) filter (dscp between 16 and 31), 0)::ubigint), 16, '0') -- null: no entry
            || lpad(to_hex(coalesce(bit_or(nibble::ubigint << (4 * (15 - dscp % 16))) filter (dscp between 32 and 47), 0)::ubigint), 16, '0') -- null: no entry
            || lpad(to_hex(coalesce(bit_or(nibble::ubigint << (4 * (15 - dscp % 16))) filter (dscp >= 48), 0)::ubigint), 16, '0'), -- null: no entry
            '0123456789',
            '.01234567?'
        ) as dscp_classes
    from nibbles
    group by target, name
),

switch_system as (
    select target, max(case split_part(probe, '_', 1) when 'nvue' then 'cumulus' else split_part(probe, '_', 1) end) as system
    from (
        select distinct target, probe from switch_port
        union all
        select distinct target, probe from switch_port_qos
        union all
        select distinct target, probe from switch_neighbor
    )
    group by target
),

-- port_class has a row per port and class, whatever was read of it.
classes as (
    select
        target,
        port,
        max(read_at) as read_at,
        case when count(pfc) = 8 then sum((1 << class) * pfc::integer) end as pfc_mask,
        case
            when count(pfc) = 8 and count(queue) = 8 and count(ecn_enabled) = 8
                then string_agg(
                    concat_ws(
                        ',',
                        class, pfc, coalesce(priority_group::varchar, '?'), coalesce(is_lossless::varchar, '?'), coalesce(headroom_bytes::varchar, '?'), coalesce(has_shared_headroom::varchar, '?'), -- null: some cannot tell
                        coalesce(pause_threshold_bytes::varchar, '?'), queue, coalesce(scheduler, '?'), coalesce(weight::varchar, '?'), ecn_enabled, coalesce(red_enabled::varchar, '?'), -- null: some cannot tell
                        coalesce(ecn_minimum_bytes::varchar, '?'), coalesce(ecn_maximum_bytes::varchar, '?'), coalesce(ecn_probability_percent::varchar, '?') -- null: some cannot tell
                    ),
                    ';'
                    order by class
                )
        end as told
    from port_class
    group by target, port
),

-- Who hears nobody has no row among the neighbors: that the command answered has to do.
hearing as (
    select distinct target from switch_neighbor
    union
    select distinct target from probe_result where status = 'ok' and (probe = 'lldpctl' or instance ilike '%lldp%')
),

switch_side as (
    select
        c.target,
        coalesce(s.read_at, c.read_at) as read_at,
        c.port,
        'switch' as kind,
        y.system,
        '' as device,
        0 as device_port,
        '' as port_role,
        null::integer as rail,
        null::integer as plane,
        coalesce(s.alias, '') as alias, -- null: only SONiC has them
        s.mac,
        s.admin_up,
        s.is_up,
        s.speed_mbps,
        s.speed_asked_mbps,
        s.lanes,
        case
            when s.fec_active in ('none', 'fc', 'rs') then s.fec_active
            -- What is asked for is in force where nothing is negotiated and the link is up.
            when s.is_up and s.autonegotiation is distinct from true and s.fec_configured in ('none', 'fc', 'rs') then s.fec_configured
        end as fec,
        case when s.fec_configured in ('none', 'fc', 'rs', 'auto', '') then s.fec_configured end as fec_asked,
        s.autonegotiation,
        s.mtu,
        -- A SONiC port without a map may follow the switch's own map or not: chips differ.
        case when y.system = 'sonic' then q.trust else coalesce(q.trust, a.trust) end as trust,
        case
            when y.system = 'sonic' then nullif(q.dscp_map, '')
            else coalesce(q.dscp_map, a.dscp_map, '') -- null: the system's only map
        end as dscp_map,
        coalesce(
            c.pfc_mask,
            case when coalesce(q.pfc_mode, a.pfc_mode) = 'off' then 0 end,
            case
                when regexp_full_match(coalesce(q.pfc_priorities, a.pfc_priorities), '[0-7]( *, *[0-7])*')
                    then list_sum([1 << try_cast(p as integer) for p in string_split(coalesce(q.pfc_priorities, a.pfc_priorities), ',')])
            end
        ) as pfc_mask,
        case
            when s.assembly_m > 0 then s.assembly_m
            else coalesce(s.configured_m, q.pfc_cable_length_m, a.pfc_cable_length_m, s.reach_m)
        end as cable_length_m,
        case
            when s.assembly_m > 0 then 'assembly'
            when coalesce(s.configured_m, q.pfc_cable_length_m, a.pfc_cable_length_m) is not null then 'configured'
            when s.reach_m is not null then 'rated reach'
        end as cable_length_kind,
        s.pause_rx,
        s.pause_tx,
        coalesce(q.watchdog, a.watchdog) as watchdog,
        nullif(coalesce(q.watchdog_priorities, a.watchdog_priorities), '') as watchdog_priorities,
        c.told
    from classes as c
    left join shown as s on s.target = c.target and s.port = c.port
    left join switch_system as y on y.target = c.target
    left join sorting as q on q.target = c.target and q.port = c.port
    left join sorting as a on a.target = c.target and a.port = ''
),

-- Of a bond the members are the ends. A device that two RDMA ports share counts once.
host_end as (
    select
        p.target,
        p.read_at,
        coalesce(m.name, p.netdev) as port,
        p.device,
        p.port as device_port,
        p.role,
        p.rail,
        p.plane,
        p.state,
        p.pci,
        case when m.name is null and p.state = 'ACTIVE' then p.rate_gbps end as rate_gbps -- of a bond that of all its members
    from port as p
    left join netdev as m on m.target = p.target and m.master = p.netdev and m.kind = 'physical'
    where p.netdev <> '' and p.link_layer is distinct from 'InfiniBand'
    qualify row_number() over (partition by p.target, coalesce(m.name, p.netdev) order by p.device, p.port) = 1
),

host_side as (
    select
        e.target,
        e.read_at,
        e.port,
        'host' as kind,
        '' as system,
        e.device,
        e.device_port,
        e.role as port_role,
        e.rail,
        e.plane,
        '' as alias,
        lower(n.mac) as mac,
        regexp_matches(lower(n.flags), '[13579bdf]$') as admin_up,
        case when l.netdev is null then case e.state when 'ACTIVE' then true when 'DOWN' then false end else l.is_up end as is_up,
        coalesce(l.speed_mbps, (e.rate_gbps * 1000)::integer) as speed_mbps, -- null: who tells is enough; a dispute is NULL in both
        case when l.auto_negotiation is false then l.speed_mbps end as speed_asked_mbps,
        l.lanes,
        l.fec,
        l.fec_asked,
        l.auto_negotiation as autonegotiation,
        n.mtu,
        q.trust,
        q.dscp_priorities,
        q.pfc_mask,
        -- What is negotiated is only a wish until the other end agrees.
        case when u.autonegotiate then u.rx_negotiated else u.rx end as pause_rx,
        case when u.autonegotiate then u.tx_negotiated else u.tx end as pause_tx,
        case when t.cable_length_m > 0 then t.cable_length_m else q.cable_length_m end as cable_length_m,
        case when t.cable_length_m > 0 then 'assembly' when q.cable_length_m is not null then 'configured' end as cable_length_kind
    from host_end as e
    left join netdev as n on n.target = e.target and n.name = e.port
    left join netdev_link as l on l.target = e.target and l.netdev = e.port
    left join netdev_qos as q on q.target = e.target and q.netdev = e.port
    left join netdev_pause as u on u.target = e.target and u.netdev = e.port
    left join transceiver as t on t.target = e.target and t.netdev = e.port
),

either_side as (
    select
        * exclude (dscp_map, told, watchdog, watchdog_priorities),
        dscp_map,
        null as dscp_priorities,
        case
            when watchdog is false then 0
            when watchdog_priorities is not null then case
                    when regexp_full_match(watchdog_priorities, '[0-7]( *, *[0-7])*')
                        then list_sum([1 << try_cast(p as integer) for p in string_split(watchdog_priorities, ',')])
                end
            -- Releases without such a list watch all lossless priorities.
            when watchdog then pfc_mask
        end as watchdog_mask,
        told
    from switch_side
    union all by name
    select *, '' as dscp_map, null::integer as watchdog_mask, '' as told from host_side
),

whole as (
    select
        b.* exclude (dscp_priorities),
        h.target is not null as lldp_read,
        -- A switch whose trust was not read may not go by DSCP at all. A host shows its map only where it does.
        case
            when b.trust in ('pcp', 'port') then ''
            when b.kind = 'host' then b.dscp_priorities
            when b.trust is not null then m.dscp_classes
        end as dscp_classes
    from either_side as b
    left join maps as m on m.target = b.target and m.name = b.dscp_map and b.kind = 'switch'
    left join hearing as h on h.target = b.target
)

select
    * exclude (dscp_map, told),
    case
        when trust is not null and dscp_classes is not null and pfc_mask is not null and mtu is not null and speed_mbps is not null
            and fec is not null and told is not null and (kind = 'host' or watchdog_mask is not null)
            then md5(concat_ws(';', trust, dscp_classes, pfc_mask, mtu, speed_mbps, fec, coalesce(watchdog_mask, 0), told)) -- null: hosts have none
    end as behavior
from whole
