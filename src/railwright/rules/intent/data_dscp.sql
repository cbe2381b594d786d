/* +++
id = "INTENT.data_dscp"
title = "DSCP of RoCE data gets another priority than the site wants"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.dscp_priorities"]
message = "{subject} gives the DSCP of RoCE data priority {observed}, the site wants {expected}"
setting = "nic.dscp_priority"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-03", "reference B3", "incident I-061, I-070", "Linux mlx5 en_dcbnl.c"]

[uses]
"site.data_dscp" = "nothing is wanted where the site says nothing"
"site.data_priority" = "nothing is wanted where the site says nothing"
"netdev_qos.trust" = "where a DSCP map is shown the port trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The NIC sorts RoCE data by its DSCP. In another priority than the design's it meets other buffers, another scheduler and no
PFC or ECN, here or at the next switch.

## What to do
`mlnx_qos -i NETDEV --dscp2prio set,DSCP,PRIORITY` (or `dcb app replace dev NETDEV dscp-prio DSCP:PRIORITY`); the link stays
up. The map is lost at reboot: leave it to a boot unit or the NIC operator. By default a DSCP gets the priority of its upper
three bits, so that 24 to 31 go to priority 3: a data DSCP of that range needs no entry at all.

## When it is wrong
A port that trusts VLAN priorities has no DSCP map and is not judged here: see INTENT.trust. The QoS of a bond is that of its
members: one that is wrong is enough.
*/
with data as (
    select p.*, priority_of(p.dscp_priorities, s.data_dscp) as priority
    from port_qos as p
    cross join site as s
)

select
    p.target,
    p.device,
    p.port,
    p.priority as observed,
    s.data_priority as expected,
    s.data_dscp is not null and s.data_priority is not null and p.link_layer = 'Ethernet' and p.role = 'compute'
    and p.netdev <> '' and (p.priority is not null or p.trust = 'dscp') as applies,
    p.priority <> s.data_priority as fault,
    'DSCP ' || s.data_dscp || ' on ' || p.netdev as detail,
    p.inferred
from data as p
cross join site as s
