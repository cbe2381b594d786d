/* +++
id = "data-dscp-lossy"
aliases = ["QOS-03"]
title = "RoCE DSCP maps to a lossy priority"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask",
]
message = "{subject} puts {observed}; expected {expected}"
action = "set"
setting = "nic.dscp_priority"
implied_by = ["intent-pfc", "intent-data-dscp"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-03, G-FABRIC", "reference B3", "incident I-061, I-070"]

[uses]
"site.fabric_mode" = "without it, only a port that contradicts itself is reported"
"site.data_dscp" = "if the site file does not set it, the traffic class forced by the host counts"
"roce_tos.traffic_class" = "read only if the site file does not set the data DSCP"
"netdev_qos.trust" = "a port that shows a DSCP map trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
RoCE data goes into a class that drops packets when buffers fill. Nothing shows until the fabric is busy. Then packets are
retransmitted, from the lost one on.

## What to do
Make the DSCP map and PFC match. Either change the map with `mlnx_qos -i NETDEV --dscp2prio set,DSCP,PRIORITY`, which
keeps the link up, or turn PFC on for the priority of the DSCP, **which bounces the link**: drain the host first. Both are
lost at reboot. The switches must match in both. To undo the map, set the former value: deleting an entry gives priority 0,
not the default.

## Exceptions
For a lossy design, set `profile = "roce-lossy"` in the site file. Without a profile, the rule checks a port only if it
has PFC on for some priority and the host forces a traffic class. A port that trusts VLAN priorities (PCP) has no DSCP map
and is not checked here. On a bond, the members are checked: one wrong member is enough for a finding.
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
        when 0 then 'a priority with PFC (none has it)'
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
