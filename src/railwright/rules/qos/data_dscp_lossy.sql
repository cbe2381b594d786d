/* +++
id = "QOS-03"
title = "DSCP of RoCE data maps to a priority without PFC"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask",
]
message = "{subject} puts {observed}, needed is {expected}"
implied_by = ["INTENT.pfc", "INTENT.data_dscp"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-03, G-FABRIC", "reference B3", "incident I-061, I-070"]

[uses]
"site.fabric_mode" = "without it only a port that contradicts itself is judged"
"site.data_dscp" = "where the site does not say it, the traffic class that the host forces counts"
"roce_tos.traffic_class" = "asked where the site does not say which DSCP data has"
"netdev_qos.trust" = "where a DSCP map is shown the port trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
RoCE data goes into a class that drops when buffers fill. Nothing shows it until the fabric is busy: then packets are sent
again, from the lost one on.

## What to do
Bring map and PFC together: `mlnx_qos -i NETDEV --dscp2prio set,DSCP,PRIORITY` while the link stays up, or PFC on for the
priority that the DSCP has, **which bounces the link**: drain first. Both are lost at reboot. The switches must agree on both.

## When it is wrong
A lossy design: say so with `profile = "roce-lossy"`. Without a profile the rule judges only a port that has PFC on for some
priority and a host that forces a traffic class. A port that trusts VLAN priorities has no DSCP map and is not judged here.
The QoS of a bond is that of its members: one that is wrong is enough.
*/
with data as (
    select
        p.*,
        case
            when s.data_dscp is not null then s.data_dscp
            when t.traffic_class >= 0 then t.traffic_class >> 2
        end as dscp,
        s.data_dscp is not null or t.traffic_class >= 0 as has_dscp,
        priority_of(p.dscp_priorities, dscp) as priority
    from port_qos as p
    cross join site as s
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
)

select
    d.target,
    d.device,
    d.port,
    'DSCP ' || d.dscp || ' into priority ' || d.priority as observed,
    case d.pfc_mask
        when 0 then 'a priority with PFC, and none has it'
        else 'a priority with PFC: ' || priorities_of(d.pfc_mask)
    end as expected,
    d.link_layer = 'Ethernet' and d.role = 'compute' and d.netdev <> '' and d.has_dscp
    and case when s.fabric_mode is null then d.pfc_mask <> 0 else s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') end
    and (d.priority is not null or d.trust = 'dscp') as applies,
    (d.pfc_mask & (1 << d.priority)) = 0 as fault,
    d.netdev as detail,
    d.inferred
from data as d
cross join site as s
