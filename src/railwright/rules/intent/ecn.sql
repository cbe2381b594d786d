/* +++
id = "INTENT.ecn"
title = "NIC does not answer ECN marks for RoCE data"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "ecn_priority.enabled"]
message = "{subject} has {observed}, the site wants {expected}"
setting = "nic.ecn"
covers = ["QOS-05"]
since = "0.2"
sources = ["review QOS-05", "reference B3", "incident I-070", "docs.nvidia.com: DOCA, ECN"]

[uses]
"site.ecn" = "nothing is wanted where the site says nothing"
"site.data_priority" = "nothing is wanted where the site does not say which priority data has"
"site.programmable_cc" = "then a program decides, not these switches"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The notification point of the receiver turns marks into CNPs, the reaction point of the sender slows down for them. With one
of them off the loop is open: nobody slows down, and what remains is PFC that spreads, or loss.

## What to do
`echo 1 > /sys/class/net/NETDEV/ecn/roce_rp/enable/N` and the same below `roce_np`, for **all eight** N: firmware from 45 on
acts on all priorities alike (N-02). It takes hold at once and is lost when the driver starts again;
`ROCE_CC_PRIO_MASK_P1=255` in the firmware keeps it, from the next firmware reset on.

## When it is wrong
Designs whose congestion control needs no CNPs (by round-trip time): leave `ecn` out of the site file. Only the vendor's
driver package shows these switches: with the kernel's own driver the port is unknown. The QoS of a bond is that of its
members: one that is wrong is enough. `ecn = false` says that NICs need not react: it is no wish that they must not.
*/
with switches as (
    select
        e.target,
        e.netdev,
        max(e.enabled) filter (e.role = 'rp') as reacts,
        max(e.enabled) filter (e.role = 'np') as notifies
    from ecn_priority as e
    inner join site as s on s.data_priority = e.priority
    group by e.target, e.netdev
)

select
    p.target,
    p.device,
    p.port,
    'reaction ' || case when e.reacts then 'on' when not e.reacts then 'off' else 'not read' end
    || ', notification ' || case when e.notifies then 'on' when not e.notifies then 'off' else 'not read' end as observed,
    'both on for priority ' || s.data_priority as expected,
    s.ecn is true and s.data_priority is not null and s.programmable_cc is not true
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    not (e.reacts and e.notifies) as fault,
    p.netdev as detail,
    p.inferred
from port_link as p
cross join site as s
left join switches as e on e.target = p.target and e.netdev = p.netdev
