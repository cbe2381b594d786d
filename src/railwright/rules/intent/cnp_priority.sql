/* +++
id = "INTENT.cnp_priority"
title = "Priority of congestion notifications is not what the site wants"
severity = "medium"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_cnp.priority"]
message = "{subject} sends CNPs with priority {observed}, the site wants {expected}"
setting = "nic.cnp_priority"
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review QOS-06", "reference B1.1, B1.2, B3"]

[uses]
"site.cnp_priority" = "nothing is wanted where the site says nothing"
"site.programmable_cc" = "the firmware's own value then is no evidence"
"netdev_cnp.told_by" = "asked where a program controls congestion"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The priority chooses the queue in which the NIC sends its CNPs, and the tag of VLAN packets. Behind data, or in a priority
that PFC stops, they reach the sender when the congestion is long over.

## What to do
`echo PRIORITY > /sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio` takes hold at once and is lost when the driver starts again.
Firmware keeps it as `CNP_802P_PRIO_P1`, in force from the next firmware reset on, which takes down every function of the
card.

## When it is wrong
Switches that trust DSCP never see this priority: there only the NIC's own queue is at stake. The value that runs counts
before the firmware's; the latter alone is judged where the driver shows none, and not with programmable congestion control.
*/
select
    p.target,
    p.device,
    p.port,
    c.priority as observed,
    s.cnp_priority as expected,
    s.cnp_priority is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
    and case when s.programmable_cc then c.told_by = 'driver' else true end as applies,
    c.priority <> s.cnp_priority as fault,
    p.netdev || case when c.told_by = 'firmware' then ', by its firmware' else '' end as detail,
    p.inferred
from port_link as p
cross join site as s
left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
