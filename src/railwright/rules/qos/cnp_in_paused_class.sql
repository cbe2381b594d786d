/* +++
id = "cnp-in-paused-class"
aliases = ["N-03"]
title = "CNPs in a lossless class"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask", "netdev_cnp.dscp",
]
message = "{subject} has CNPs with {observed}; expected {expected}"
action = "set"
setting = "nic.cnp_dscp"
implied_by = ["intent-cnp-dscp", "intent-pfc"]
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review N-03, QOS-06", "reference B1.1, B3 (switch defaults: CNP strict on priority 6)"]

[uses]
"site.data_priority" = "if it is not set, only PFC is checked"
"site.ecn" = "if the site file sets it to false, NICs need not react and CNPs do not matter"
"site.fabric_mode" = "pfc-only designs have no CNPs"
"netdev_qos.trust" = "a port that shows a DSCP map trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must reach the sender while the queue is still full. In the data class it waits in that very queue; in a priority
with PFC it is paused together with it. The control loop becomes slow when it is needed most.

## What to do
1. Give CNPs a separate DSCP that maps to a priority without PFC, by default 48 and priority 6:
   `echo 48 > /sys/class/net/NETDEV/ecn/roce_np/cnp_dscp`. It takes effect immediately; whether it survives a driver
   reload is not documented. `CNP_DSCP_P1` in firmware persists it, from the next firmware reset on. Turning PFC off for
   the priority instead bounces the link.
2. Set the same map on the switches, with a strict queue.

## Exceptions
Only the host's own map is checked: a switch may still put CNPs elsewhere, and whether its queue is strict is not
collected. A port that trusts VLAN priorities (PCP) is not checked. On a bond, the members are checked: one wrong member
is enough for a finding.
*/
with marked as (
    select p.*, c.dscp, priority_of(p.dscp_priorities, c.dscp) as priority
    from port_qos as p
    left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
)

select
    p.target,
    p.device,
    p.port,
    'DSCP ' || p.dscp || ' in priority ' || p.priority || case
        when (p.pfc_mask & (1 << p.priority)) <> 0 then ', which has PFC'
        when p.priority = s.data_priority then ', which carries the data'
        else ''
    end as observed,
    'a separate priority without PFC' as expected,
    s.ecn is not false and (s.fabric_mode is null or s.fabric_mode <> 'pfc-only')
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
    and (p.priority is not null or p.trust = 'dscp') as applies,
    (p.pfc_mask & (1 << p.priority)) <> 0 or (s.data_priority is not null and p.priority = s.data_priority) as fault,
    p.netdev as detail,
    p.inferred
from marked as p
cross join site as s
