/* +++
id = "INTENT.data_dscp"
title = "DSCP of RoCE data gets another priority than the site wants"
severity = "high"
subject = "port"
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "qos_dscp.priority"]
message = "{subject} gives the DSCP of RoCE data priority {observed}, the site wants {expected}"
setting = "nic.dscp_priority"
since = "0.2"
sources = ["review QOS-03", "reference B3", "incident I-061, I-070", "Linux mlx5 en_dcbnl.c"]

[unless]
"qos_dscp.priority" = "dcb tells it"

[uses]
"site.data_dscp" = "nothing is wanted where the site says nothing"
"site.data_priority" = "nothing is wanted where the site says nothing"
"qos_port.trust" = "where a DSCP map is shown the port trusts DSCP"
"dcb_app.priority" = "the kernel's own tool tells the same where mlnx_qos is not installed"
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
members and is not read from the bond: such a port is unknown.
*/
with told as (
    select target, netdev, dscp, priority from qos_dscp
    union all
    select target, netdev, protocol, priority from dcb_app where selector = 'dscp'
),

-- Two entries that contradict each other leave it open.
data as (
    select t.target, t.netdev, case when min(t.priority) = max(t.priority) then min(t.priority) end as priority
    from told as t
    inner join site as s on s.data_dscp = t.dscp
    group by t.target, t.netdev
)

select
    p.target,
    p.device,
    p.port,
    d.priority as observed,
    s.data_priority as expected,
    s.data_dscp is not null and s.data_priority is not null and p.link_layer = 'Ethernet' and p.role = 'compute'
    and p.netdev <> '' and (d.priority is not null or q.trust = 'dscp') as applies,
    d.priority <> s.data_priority as fault,
    'DSCP ' || s.data_dscp || ' on ' || p.netdev as detail,
    p.inferred
from port_scope as p
cross join site as s
left join qos_port as q on q.target = p.target and q.netdev = p.netdev
left join data as d on d.target = p.target and d.netdev = p.netdev
