-- How a host's network device marks congestion notifications (CNPs): what runs counts before what the firmware starts with,
-- which counts where the driver shows no such files.
with driver as (
    select
        target,
        netdev,
        max(read_at) as read_at,
        max(value) filter (name = 'cnp_dscp') as dscp,
        max(value) filter (name = 'cnp_802p_prio') as priority
    from ecn_parameter
    where role = 'np' and name in ('cnp_dscp', 'cnp_802p_prio')
    group by target, netdev
),

silent_driver as (
    select target from probe_result where probe = 'ecn' and instance = '' and status = 'absent'
),

firmware as (
    select
        target,
        pci,
        port,
        max(read_at) as read_at,
        max(current_code) filter (name = 'CNP_DSCP') as dscp,
        max(current_code) filter (name = 'CNP_802P_PRIO') as priority,
        max(port) over (partition by target, pci) as ports
    from nic_parameter
    where name in ('CNP_DSCP', 'CNP_802P_PRIO')
    group by target, pci, port
),

-- A card's functions all show the parameters of all its ports.
of_netdev as (
    select n.target, n.name as netdev, f.read_at, f.dscp, f.priority
    from netdev as n
    semi join silent_driver as s on s.target = n.target
    left join firmware as f
        on f.target = n.target and f.pci = n.pci
        and (f.ports = 1 or f.port = try_cast(regexp_extract(n.port_name, '^p([0-9]+)', 1) as integer) + 1)
    where n.kind = 'physical' and n.port_name not like 'pf%vf%'
),

device as (
    select target, netdev from driver
    union
    select target, netdev from of_netdev
)

select
    d.target,
    greatest(r.read_at, f.read_at) as read_at, -- null: who told nothing has no time
    d.netdev,
    try_cast(coalesce(r.dscp, f.dscp) as integer) as dscp, -- null: the next best
    try_cast(coalesce(r.priority, f.priority) as integer) as priority, -- null: the next best
    case when r.target is null then 'firmware' else 'driver' end as told_by
from device as d
left join driver as r on r.target = d.target and r.netdev = d.netdev
left join of_netdev as f on f.target = d.target and f.netdev = d.netdev
