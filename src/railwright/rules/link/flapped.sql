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
  "review LNK-05, G-WINDOW", "incident I-072, I-073, I-074",
  "Linux drivers/infiniband/core/sysfs.c; mlx5 counters.rst (link_down_events_phy)",
]

[unless]
"netdev_counter.value" = "the port is InfiniBand"
"before.netdev_counter.value" = "the port is InfiniBand"
"rdma_counter.value" = "the port is Ethernet"
"before.rdma_counter.value" = "the port is Ethernet"

[uses]
"port_scope.netdev" = "asked on Ethernet only"
"port_scope.inferred" = {purpose = "severity"}

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
-- InfiniBand's counter has 8 bits and stays at 255.
with rises as (
    select target, netdev as place, rise, seconds from netdev_rise where counter = 'link_down_events_phy'
    union all
    select target, device || '/' || port, case when value < 255 then rise end, seconds from rdma_rise where counter = 'link_downed'
),

-- On Ethernet network devices count, of a bond its members; the IB counter says nothing there.
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
