/* +++
id = "link-went-down"
aliases = ["LNK-05"]
title = "Link went down"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "netdev_counter.value", "before.netdev_counter.value", "rdma_counter.value",
  "before.rdma_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "The link of {subject} went down {observed}"
action = "ask"
implied_by = ["link-flapping", "port-down", "module-hot"]
baseline = true
since = "0.2"
sources = [
  "review LNK-05, G-WINDOW", "incident I-072, I-073, I-074",
  "Linux drivers/infiniband/core/sysfs.c; mlx5 counters.rst (link_down_events_phy)",
]

[unless]
"netdev_counter.value" = "the port is InfiniBand"
"before.netdev_counter.value" = "the port is InfiniBand"
"rdma_counter.value" = "the port is Ethernet"
"before.rdma_counter.value" = "the port is Ethernet"

[uses]
"port_scope.netdev" = "used on Ethernet only"
"port_scope.inferred" = {purpose = "severity"}

[parameters.calm_days]
default = 7
unit = "days per flap"
reason = "judgement: a link that went down once in a longer time needs no action"
+++
## Why it matters
A job that used the link at that moment has failed or hung: RDMA does not wait for a link to come back. A link that went
down once without a cause tends to do so again.

## What to do
1. Find out whether it was planned work: `ip link` down and up, a driver reload, a PFC or FEC change and a switch reboot
   count as well.
2. Check the error rates (`link-ber-high`, `fec-uncorrectable`), the module's temperature and optical power, and the
   switch's log for that port.

## Exceptions
Expected after planned work at either end. If several ports of one switch went down at the same moment, the cause is the
switch, not the cables. Both snapshots must be from the same boot. If a counter is at its maximum (255 on InfiniBand), the
check is inconclusive until the counter is cleared.
*/
-- InfiniBand's counter has 8 bits and stays at 255.
with rises as (
    select target, netdev as place, rise, seconds from netdev_rise where counter = 'link_down_events_phy'
    union all
    select target, device || '/' || port, case when value < 255 then rise end, seconds from rdma_rise where counter = 'link_downed'
),

-- On Ethernet the network devices count, for a bond its members; the IB counter means nothing there.
places as (
    select
        p.target,
        p.device,
        p.port,
        case
            when p.link_layer = 'InfiniBand' then p.device || '/' || p.port
            when p.link_layer = 'Ethernet' then l.netdev
        end as place
    from port_scope as p
    left join port_link as l on l.target = p.target and l.device = p.device and l.port = p.port
),

ports as (
    select
        p.target,
        p.device,
        p.port,
        sum_known(r.rise) as flaps,
        max(r.seconds) as seconds
    from places as p
    left join rises as r on r.target = p.target and r.place = p.place
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
