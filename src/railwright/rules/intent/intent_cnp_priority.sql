/* +++
id = "intent-cnp-priority"
aliases = ["INTENT.cnp_priority"]
title = "CNP priority does not match intent"
severity = "medium"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_cnp.priority"]
message = "{subject} sends CNPs with priority {observed}; intent is {expected}"
action = "set"
setting = "nic.cnp_priority"
fix = "echo EXPECTED > /sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio"
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review QOS-06", "reference B1.1, B1.2, B3"]

[uses]
"site.cnp_priority" = "not checked unless the site file sets it"
"site.programmable_cc" = "if true, the firmware value alone proves nothing"
"netdev_cnp.told_by" = "read only with programmable congestion control"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The priority selects the queue in which the NIC sends its CNPs, and the tag of VLAN packets. Behind data, or in a priority
that PFC pauses, CNPs reach the sender long after the congestion is over.

## What to do
Run `echo EXPECTED > /sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio`. It takes effect immediately; whether it
survives a driver reload is not documented. To persist the value, set `CNP_802P_PRIO_P1` in firmware. It takes effect at the next
firmware reset, which takes down every function of the card.

## Exceptions
Switches that trust DSCP never see this priority: there it affects only the NIC's own queue. The running value takes
precedence over the firmware value. The firmware value alone is checked only if the driver shows none, and never with
programmable congestion control.
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
    p.netdev || case when c.told_by = 'firmware' then ' (firmware value)' else '' end as detail,
    p.inferred
from port_link as p
cross join site as s
left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
