/* +++
id = "LNK-05"
title = "Link went down"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "netdev_counter.value", "before.netdev_counter.value", "rdma_counter.value",
  "before.rdma_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "The link of {subject} went down {observed}"
implied_by = ["LNK-06", "LNK-01", "THM-01"]
baseline = true
since = "0.2"
sources = [
  "rules-review.md LNK-05, G-WINDOW", "incidents.md I-072, I-073, I-074",
  "Linux drivers/infiniband/core/sysfs.c; mlx5 counters.rst (link_down_events_phy)",
]

[uses]
"port_scope.netdev" = "asked on Ethernet only"
"port_scope.inferred" = "caps the severity"

[parameters.calm_days]
default = 7
unit = "days per flap"
reason = "judgement: a link that went down once in a longer time needs no hand"
+++
## Why it matters
A job that used the link at that moment has failed or hung: RDMA does not wait for a link to come back. A link that fell
once without a cause tends to fall again.

## What to do
First ask whether somebody worked on it: `ip link` down and up, a driver reload, a change of PFC or FEC and a reboot of the
switch count as well. Then the error rates (LNK-04, N-06), the module's temperature and light, the switch's log of that port.

## When it is wrong
Planned work at either end. Several ports of one switch at the same moment are the switch, not their cables. The counters
must be of one boot; one at its largest value (255 on InfiniBand) says nothing until it is cleared.
*/
with one_boot as (
    -- Counters compare only within one boot.
    select n.target
    from host as n
    inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id
),

-- A counter that went down was reset; InfiniBand's has 8 bits and stays at 255.
rises as (
    select n.target, n.netdev as place, case when n.value >= b.value then n.value - b.value end as rise,
        n.read_at - b.read_at as span
    from netdev_counter as n
    inner join before.netdev_counter as b on b.target = n.target and b.netdev = n.netdev and b.counter = n.counter
    where n.counter = 'link_down_events_phy'
    union all
    select n.target, n.device || '/' || n.port, case when n.value >= b.value and n.value < 255 then n.value - b.value end,
        n.read_at - b.read_at
    from rdma_counter as n
    inner join before.rdma_counter as b
        on b.target = n.target and b.device = n.device and b.port = n.port and b.counter = n.counter
    where n.counter = 'link_downed'
),

-- On Ethernet network devices count, of a bond its members; the IB counter says nothing there.
places as (
    select
        p.target,
        p.device,
        p.port,
        case
            when p.link_layer = 'InfiniBand' then p.device || '/' || p.port
            when p.link_layer = 'Ethernet' and b.member is null then p.netdev
            when p.link_layer = 'Ethernet' then b.member
        end as place
    from port_scope as p
    left join bond_member as b on b.target = p.target and b.bond = p.netdev
),

ports as (
    select
        p.target,
        p.device,
        p.port,
        case when count(r.rise) = count(*) then sum(r.rise) end as flaps,
        max(epoch(r.span)) as seconds
    from places as p
    left join one_boot as o on o.target = p.target
    left join rises as r on r.target = o.target and r.place = p.place
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    case when f.flaps = 1 then 'once' else f.flaps || ' times' end || printf(' in %.1f hours', f.seconds / 3600) as observed,
    'never' as expected,
    p.role in ('compute', 'storage') and case p.link_layer when 'InfiniBand' then true when 'Ethernet' then p.netdev <> '' end
        as applies,
    f.flaps > f.seconds / (86400 * $calm_days) as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join ports as f on f.target = p.target and f.device = p.device and f.port = p.port
