/* +++
id = "intent-cnp-dscp"
aliases = ["INTENT.cnp_dscp"]
title = "CNP DSCP does not match intent"
severity = "medium"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_cnp.dscp"]
message = "{subject} sends CNPs with DSCP {observed}; intent is {expected}"
action = "set"
setting = "nic.cnp_dscp"
fix = "echo EXPECTED > /sys/class/net/NETDEV/ecn/roce_np/cnp_dscp"
covers = ["QOS-06"]
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review QOS-06", "reference B1.1, B1.2, B3"]

[uses]
"site.cnp_dscp" = "not checked unless the site file sets it"
"site.programmable_cc" = "if true, the firmware value alone proves nothing"
"netdev_cnp.told_by" = "read only with programmable congestion control"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must overtake the queue that it reports. With a DSCP other than the one the switches expect, it waits in best effort
(DSCP 4 maps to priority 0 by default), and senders slow down late.

## What to do
Run `echo EXPECTED > /sys/class/net/NETDEV/ecn/roce_np/cnp_dscp`. It takes effect immediately; whether it survives a
driver reload is not documented. To persist the value, set `CNP_DSCP_P1` in firmware. It takes effect at the next firmware reset,
which takes down every function of the card.

## Exceptions
Sites that send CNPs with DSCP 4, as NVIDIA's operator does, must map DSCP 4 to the CNP queue on every switch and set
`cnp_dscp = 4` in the site file. The running value takes precedence over the firmware value. The firmware value alone is
checked only if the driver shows none, and never with programmable congestion control.
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
    p.netdev || case when c.told_by = 'firmware' then ' (firmware value)' else '' end as detail,
    p.inferred
from port_link as p
cross join site as s
left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
