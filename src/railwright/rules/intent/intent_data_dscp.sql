/* +++
id = "intent-data-dscp"
aliases = ["INTENT.data_dscp"]
title = "Priority of RoCE data does not match intent"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.dscp_priorities"]
message = "{subject} gives the DSCP of RoCE data priority {observed}; intent is {expected}"
action = "set"
setting = "nic.dscp_priority"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-03", "reference B3", "incident I-061, I-070", "Linux mlx5 en_dcbnl.c"]

[uses]
"site.data_dscp" = "not checked unless the site file sets it"
"site.data_priority" = "not checked unless the site file sets it"
"netdev_qos.trust" = "a port that shows a DSCP map trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The NIC classifies RoCE data by its DSCP. In a priority other than the intended one, data gets different buffers, a
different scheduler and no PFC or ECN, on this NIC or at the next switch.

## What to do
Run `mlnx_qos -i NETDEV --dscp2prio set,DSCP,PRIORITY` (or `dcb app replace dev NETDEV dscp-prio DSCP:PRIORITY`). The link
stays up. The map is lost at reboot, so let a boot unit or the NIC operator set it. By default the upper three bits of a
DSCP are its priority, so 24 to 31 map to priority 3: a data DSCP in that range needs no entry at all. To undo it, set the
former value: deleting an entry gives priority 0, not the default.

## Exceptions
A port that trusts VLAN priorities (PCP) has no DSCP map and is not checked here; see `intent-trust`. On a bond, the
members are checked: one wrong member is enough for a finding.
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
