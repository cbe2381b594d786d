/* +++
id = "N-03"
title = "Congestion notifications share a class with data or can be paused"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask", "netdev_cnp.dscp",
]
message = "{subject} has CNPs with {observed}, needed is {expected}"
implied_by = ["INTENT.cnp_dscp", "INTENT.pfc"]
on_path = {packets = ["CNP"], sides = ["out"]}
since = "0.2"
sources = ["review N-03, QOS-06", "reference B1.1, B3 (switch defaults: CNP strict on priority 6)"]

[uses]
"site.data_priority" = "where nobody says it, only PFC is judged"
"site.ecn" = "where the site says that NICs need not react, CNPs do not matter"
"site.fabric_mode" = "pfc-only designs have no CNPs"
"netdev_qos.trust" = "where a DSCP map is shown the port trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must reach the sender while the queue is still full. In the class of data it waits in that very queue; in a priority
with PFC it is stopped together with it. The loop gets slow when it is needed most.

## What to do
Give CNPs a DSCP of their own that maps to a priority without PFC, 48 and priority 6 by default: `echo 48 >
/sys/class/net/NETDEV/ecn/roce_np/cnp_dscp`, at once, lost when the driver starts again (`CNP_DSCP_P1` keeps it, from the next
firmware reset on). Taking PFC off the priority instead bounces the link. Switches need the same map, and a strict queue.

## When it is wrong
Only the host's own map is seen here: a switch may still send CNPs elsewhere, and whether its queue is strict is not read. A
port that trusts VLAN priorities is not judged. The QoS of a bond is that of its members: one that is wrong is enough.
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
        when p.priority = s.data_priority then ', that of data'
        else ''
    end as observed,
    'a priority of their own without PFC' as expected,
    s.ecn is not false and (s.fabric_mode is null or s.fabric_mode <> 'pfc-only')
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
    and (p.priority is not null or p.trust = 'dscp') as applies,
    (p.pfc_mask & (1 << p.priority)) <> 0 or (s.data_priority is not null and p.priority = s.data_priority) as fault,
    p.netdev as detail,
    p.inferred
from marked as p
cross join site as s
