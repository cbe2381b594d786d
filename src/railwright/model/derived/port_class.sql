-- Several answers of one probe fill different columns of one row, and what is in force stands beside what is
-- configured: of each column the value in force counts, then the configured one, and what is known before
-- NULL. Where the system has one setting for all ports (port ''), it counts for a port that has none of its own.
with named as (
    select
        target,
        port,
        max(read_at) as read_at,
        case split_part(max(probe), '_', 1) when 'nvue' then 'cumulus' else split_part(max(probe), '_', 1) end as system
    from (
        select target, port, read_at, probe from switch_port
        union all
        select target, port, read_at, probe from switch_port_qos
        union all
        select target, port, read_at, probe from switch_neighbor
    )
    -- Management ports and bundles of ports are no ends of links that carry RDMA.
    where port <> ''
        and not regexp_matches(port, '^(eth[0-9]|mgmt|Management|fnm|lo$|Loopback|Vlan|PortChannel|Port-Channel|M?[Pp]o[0-9]|bond|peerlink)')
    group by target, port
),

bound as (
    select
        target,
        port,
        max(traffic_class_map) as traffic_class_map,
        max(class_group_map) as class_group_map,
        max(priority_queue_map) as priority_queue_map
    from switch_port_qos
    group by target, port
),

down as (
    select target, port from switch_port where is_up is false group by all
),

-- Without a link nothing is in force: then the setting counts.
pfc as (
    select
        f.target,
        f.port,
        f.priority,
        coalesce(
            max(case when d.port is null then coalesce(f.is_operational, f.enabled) else f.enabled end) filter (f.probe <> 'sonic_config_db'),
            max(f.enabled)
        ) as pfc
    from switch_pfc as f
    left join down as d on d.target = f.target and d.port = f.port
    group by f.target, f.port, f.priority
),

-- A class is lossless only if pauses are both sent and obeyed: Cumulus has a switch for each direction, and the mode semi-lossless
-- of Onyx obeys pauses and sends none (Onyx user manual, RoCE modes).
direction as (
    select target, port, max(pfc_rx) as pfc_rx, max(pfc_tx) as pfc_tx from switch_port_qos group by all
),

one_way as (
    select n.target, n.port
    from named as n
    left join direction as d on d.target = n.target and d.port = n.port
    left join direction as a on a.target = n.target and a.port = ''
    left join switch as w on w.target = n.target and w.roce_mode = 'semi-lossless'
    where coalesce(d.pfc_rx, a.pfc_rx) is false or coalesce(d.pfc_tx, a.pfc_tx) is false or w.target is not null
),

class_queue as (
    select target, map, traffic_class, max(queue) as queue from switch_class_queue group by all
),

priority_queue as (
    select target, map, priority, max(queue) as queue from switch_priority_queue group by all
),

class_group as (
    select target, map, traffic_class, max(priority_group) as priority_group from switch_class_group group by all
),

priority_group as (
    select
        target,
        port,
        priority_group,
        coalesce(max(profile) filter (probe <> 'sonic_config_db'), max(profile)) as profile,
        coalesce(max(is_lossless) filter (probe <> 'sonic_config_db'), max(is_lossless)) as is_lossless,
        coalesce(max(headroom_bytes) filter (probe <> 'sonic_config_db'), max(headroom_bytes)) as headroom_bytes
    from switch_priority_group
    group by all
),

groups_read as (
    select distinct target from switch_priority_group
),

profile as (
    select
        target,
        profile,
        coalesce(max(static_threshold_bytes) filter (probe <> 'sonic_config_db'), max(static_threshold_bytes)) as static_threshold_bytes,
        coalesce(max(xoff_bytes) filter (probe <> 'sonic_config_db'), max(xoff_bytes)) as xoff_bytes
    from switch_buffer_profile
    group by all
),

pools as (
    select
        target,
        bool_or(xoff_bytes > 0) as has_shared_headroom,
        bool_or(coalesce(kind, '') = 'lossless' or pool = 'roce-reserved-ingress') as has_lossless -- null: Cumulus does not say
    from switch_buffer_pool
    where coalesce(direction, '') <> 'egress' -- null: Onyx does not say
    group by target
),

-- Onyx prints of each pool whether it is lossless. Cumulus does not: there the RoCE preset gives a lossless buffer to the
-- priorities that it pauses, in whichever of its modes and pools (lossless has a pool of their own for them,
-- lossless-single-ipool and dci-1 one for all; Cumulus Linux 5.13 and 5.19, RDMA over Converged Ethernet).
preset as (
    select target, max(pfc_priorities) as priorities from switch_port_qos where port = '' group by target
),

pooled as (
    select
        o.target,
        try_cast(o.class as integer) as class,
        bool_or(case when o.kind is not null then o.kind = 'lossless' else list_contains(string_split(p.priorities, ','), o.class) end) as is_lossless
    from (
        select target, pool, kind, unnest(string_split(priorities, ',')) as class
        from switch_buffer_pool
        where coalesce(direction, '') <> 'egress' and priorities <> '' -- null: Onyx does not say
    ) as o
    left join preset as p on p.target = o.target
    group by o.target, o.class
),

queue as (
    select
        target,
        port,
        queue,
        coalesce(max(scheduler) filter (probe <> 'sonic_config_db'), max(scheduler)) as scheduler,
        coalesce(max(weight) filter (probe <> 'sonic_config_db'), max(weight)) as weight,
        coalesce(max(ecn_enabled) filter (probe <> 'sonic_config_db'), max(ecn_enabled)) as ecn_enabled,
        coalesce(max(red_enabled) filter (probe <> 'sonic_config_db'), max(red_enabled)) as red_enabled,
        coalesce(max(ecn_minimum_bytes) filter (probe <> 'sonic_config_db'), max(ecn_minimum_bytes)) as ecn_minimum_bytes,
        coalesce(max(ecn_maximum_bytes) filter (probe <> 'sonic_config_db'), max(ecn_maximum_bytes)) as ecn_maximum_bytes,
        coalesce(max(ecn_probability_percent) filter (probe <> 'sonic_config_db'), max(ecn_probability_percent)) as ecn_probability_percent
    from switch_queue
    group by all
),

queues_read as (
    select distinct target from switch_queue where wred_profile is not null
),

cells as (
    select
        n.target,
        n.read_at,
        n.port,
        n.system,
        try_cast(c.class as integer) as class,
        case n.system
            when 'sonic' then g.priority_group
            else c.class
        end as priority_group,
        -- The class is a traffic class in SONiC and EOS, a switch priority in the other two.
        case when n.system in ('sonic', 'eos') then cq.queue else pq.queue end as queue
    from named as n
    cross join range(8) as c(class)
    left join bound as b on b.target = n.target and b.port = n.port
    left join class_queue as cq on cq.target = n.target and cq.traffic_class = c.class
        -- A SONiC port without a map has no queue that we could name; EOS has one map for all.
        and cq.map = case n.system when 'sonic' then nullif(b.traffic_class_map, '') else coalesce(b.traffic_class_map, '') end -- null: no map of its own
    left join priority_queue as pq on pq.target = n.target and pq.priority = c.class
        and n.system in ('cumulus', 'onyx') and pq.map = coalesce(b.priority_queue_map, '') -- null: no map of its own
    left join class_group as g on g.target = n.target and g.traffic_class = c.class
        and g.map = nullif(b.class_group_map, '')
)

select
    c.target,
    c.read_at,
    c.port,
    c.class,
    case when w.target is null then coalesce(f.pfc, fa.pfc) else false end as pfc,
    c.priority_group,
    case
        when g.port is not null then coalesce(g.is_lossless, case when gp.profile is not null then gp.xoff_bytes is not null end)
        when ga.port is not null then ga.is_lossless
        when c.system = 'sonic' and r.target is not null and c.priority_group is not null then false
        when o.target is not null then o.is_lossless
        when p.has_lossless and c.system <> 'sonic' then false
    end as is_lossless,
    coalesce(g.headroom_bytes, gp.xoff_bytes, ga.headroom_bytes) as headroom_bytes,
    -- SONiC leaves the field out where there is none.
    case when c.system = 'sonic' and p.target is not null then coalesce(p.has_shared_headroom, false) else p.has_shared_headroom end as has_shared_headroom, -- null: none of the pools has it
    gp.static_threshold_bytes as pause_threshold_bytes,
    c.queue,
    -- A queue that SONiC's configuration does not name has neither a scheduler nor a profile.
    case when q.port is null and c.system = 'sonic' and c.queue is not null and qr.target is not null then '' else coalesce(q.scheduler, qa.scheduler) end as scheduler,
    coalesce(q.weight, qa.weight) as weight,
    case when q.port is null and c.system = 'sonic' and c.queue is not null and qr.target is not null then false else coalesce(q.ecn_enabled, qa.ecn_enabled) end as ecn_enabled,
    case when q.port is null and c.system = 'sonic' and c.queue is not null and qr.target is not null then false else coalesce(q.red_enabled, qa.red_enabled) end as red_enabled,
    coalesce(q.ecn_minimum_bytes, qa.ecn_minimum_bytes) as ecn_minimum_bytes,
    coalesce(q.ecn_maximum_bytes, qa.ecn_maximum_bytes) as ecn_maximum_bytes,
    coalesce(q.ecn_probability_percent, qa.ecn_probability_percent) as ecn_probability_percent
from cells as c
left join one_way as w on w.target = c.target and w.port = c.port
left join pfc as f on f.target = c.target and f.port = c.port and f.priority = c.class
left join pfc as fa on fa.target = c.target and fa.port = '' and fa.priority = c.class
left join priority_group as g on g.target = c.target and g.port = c.port and g.priority_group = c.priority_group
left join priority_group as ga on ga.target = c.target and ga.port = '' and ga.priority_group = c.priority_group
left join profile as gp on gp.target = c.target and gp.profile = g.profile
left join groups_read as r on r.target = c.target
left join pools as p on p.target = c.target
left join pooled as o on o.target = c.target and o.class = c.class
left join queue as q on q.target = c.target and q.port = c.port and q.queue = c.queue
left join queue as qa on qa.target = c.target and qa.port = '' and qa.queue = c.queue
left join queues_read as qr on qr.target = c.target
