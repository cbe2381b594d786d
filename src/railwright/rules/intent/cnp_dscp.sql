/* +++
id = "INTENT.cnp_dscp"
title = "DSCP of congestion notifications is not what the site wants"
severity = "medium"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_cnp.dscp"]
message = "{subject} sends CNPs with DSCP {observed}, the site wants {expected}"
setting = "nic.cnp_dscp"
covers = ["QOS-06"]
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review QOS-06", "reference B1.1, B1.2, B3"]

[uses]
"site.cnp_dscp" = "nothing is wanted where the site says nothing"
"site.programmable_cc" = "the firmware's own value then is no evidence"
"netdev_cnp.told_by" = "asked where a program controls congestion"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must overtake the queue that it reports. With another DSCP than the switches expect it waits among best effort (DSCP 4
is priority 0 by default), and senders slow down late.

## What to do
`echo DSCP > /sys/class/net/NETDEV/ecn/roce_np/cnp_dscp` takes hold at once and is lost when the driver starts again. Firmware
keeps it as `CNP_DSCP_P1`, in force from the next firmware reset on, which takes down every function of the card.

## When it is wrong
Sites that send CNPs with 4, as NVIDIA's operator does, must map DSCP 4 to the queue of CNPs on every switch, and say
`cnp_dscp = 4`. The value that runs counts before the firmware's; the latter alone is judged where the driver shows none, and
not with programmable congestion control.
*/
select
    p.target,
    p.device,
    p.port,
    c.dscp as observed,
    s.cnp_dscp as expected,
    s.cnp_dscp is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
    and case when s.programmable_cc then c.told_by = 'driver' else true end as applies,
    c.dscp <> s.cnp_dscp as fault,
    p.netdev || case when c.told_by = 'firmware' then ', by its firmware' else '' end as detail,
    p.inferred
from port_link as p
cross join site as s
left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
