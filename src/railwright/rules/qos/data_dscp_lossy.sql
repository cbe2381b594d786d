/* +++
id = "QOS-03"
title = "DSCP of RoCE data maps to a priority without PFC"
severity = "high"
subject = "port"
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "qos_dscp.priority", "qos_priority.pfc_enabled",
]
message = "{subject} puts {observed}, needed is {expected}"
implied_by = ["INTENT.pfc", "INTENT.data_dscp"]
since = "0.2"
sources = ["review QOS-03, G-FABRIC", "reference B3", "incident I-061, I-070"]

[unless]
"qos_dscp.priority" = "dcb tells it"
"qos_priority.pfc_enabled" = "dcb tells it"

[uses]
"site.fabric_mode" = "without it only a port that contradicts itself is judged"
"site.data_dscp" = "where the site does not say it, the traffic class that the host forces counts"
"roce_tos.traffic_class" = "asked where the site does not say which DSCP data has"
"qos_port.trust" = "where a DSCP map is shown the port trusts DSCP"
"dcb_app.priority" = "the kernel's own tool tells the same where mlnx_qos is not installed"
"dcb_pfc_priority.enabled" = "the kernel's own tool tells the same where mlnx_qos is not installed"
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
The QoS of a bond is that of its members and is not read from the bond: such a port is unknown.
*/
with told_pfc as (
    select target, netdev, priority, pfc_enabled as enabled from qos_priority
    union all
    select target, netdev, priority, enabled from dcb_pfc_priority
),

-- Known only if each of the eight priorities is either on or off.
pfc as (
    select
        target,
        netdev,
        bit_or(case when enabled then 1 << priority else 0 end) as mask, -- null: in neither mask
        bit_or(case when not enabled then 1 << priority else 0 end) as off_mask -- null: in neither mask
    from told_pfc
    group by target, netdev
    having mask + off_mask = 255
),

told_dscp as (
    select target, netdev, dscp, priority from qos_dscp
    union all
    select target, netdev, protocol, priority from dcb_app where selector = 'dscp'
),

data as (
    select
        p.*,
        s.fabric_mode,
        case
            when s.data_dscp is not null then s.data_dscp
            when t.traffic_class >= 0 then t.traffic_class >> 2
        end as dscp,
        s.data_dscp is not null or t.traffic_class >= 0 as has_dscp
    from port_scope as p
    cross join site as s
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
),

-- Two entries that contradict each other leave it open.
map as (
    select d.target, d.device, d.port, case when min(t.priority) = max(t.priority) then min(t.priority) end as priority
    from data as d
    inner join told_dscp as t on t.target = d.target and t.netdev = d.netdev and t.dscp = d.dscp
    group by d.target, d.device, d.port
)

select
    d.target,
    d.device,
    d.port,
    'DSCP ' || d.dscp || ' into priority ' || m.priority as observed,
    case f.mask
        when 0 then 'a priority with PFC, and none has it'
        else 'a priority with PFC: ' || array_to_string([x for x in range(8) if f.mask & (1 << x) <> 0], ',')
    end as expected,
    d.link_layer = 'Ethernet' and d.role = 'compute' and d.netdev <> '' and d.has_dscp
    and case when d.fabric_mode is null then f.mask <> 0 else d.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') end
    and (m.priority is not null or q.trust = 'dscp') as applies,
    (f.mask & (1 << m.priority)) = 0 as fault,
    d.netdev as detail,
    d.inferred
from data as d
left join map as m on m.target = d.target and m.device = d.device and m.port = d.port
left join pfc as f on f.target = d.target and f.netdev = d.netdev
left join qos_port as q on q.target = d.target and q.netdev = d.netdev
