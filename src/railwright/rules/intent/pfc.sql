/* +++
id = "INTENT.pfc"
title = "PFC is not on for the priorities that the site wants lossless"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.pfc_mask"]
message = "{subject} has PFC on for priorities {observed}, the site wants {expected}"
setting = "nic.pfc"
covers = ["QOS-02"]
cost = "bus bandwidth fell to 0.x GB/s without PFC on the path (incident I-059)"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = [
  "review QOS-02, EFFECTS", "reference B3", "incident I-059", "Linux mlx5 en_dcbnl.c",
  "sonic-buildimage files/build_templates/qos_config.j2: switches with PFC on 3 and 4 in front of hosts that use 3 alone are SONiC's preset",
  "judgement: a priority that a host does not send in needs no PFC there",
]

[grades]
high = "a priority that must be lossless has no PFC, or the site wants none at all"
low = "other priorities have it too"

[uses]
"site.pfc_mask" = "nothing is wanted where the site says nothing"
"site.data_priority" = "where the site says it, that one must be lossless at a host, and the others may be"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A lossless priority that does not pause drops under load, and RoCE goes back and sends again. One that pauses without need
holds up everything behind it.

## What to do
`mlnx_qos -i NETDEV --pfc 0,0,0,1,0,0,0,0` (or `dcb pfc set dev NETDEV prio-pfc all:off 3:on`) for priority 3 alone. **The
driver takes the link down and up when the PFC mask changes**: drain the host first, one rail at a time. The value is lost at
reboot, so leave it to a boot unit or the NIC operator; with firmware DCBX or lldpad at work it is overwritten again
(INTENT.dcbx_owner).

## When it is wrong
Of several lossless priorities a host must have that of its data; the others are for switches and storage. Ports that carry another class of lossless traffic by design: give them another role in the site file. The QoS of a bond is
that of its members: one that is wrong is enough. Two tools that contradict each other leave the port unknown too.
*/
with wanted as (
    select pfc_mask, case when data_priority is null then pfc_mask else pfc_mask & (1 << data_priority) end as needed
    from site
)

select
    p.target,
    p.device,
    p.port,
    priorities_of(p.pfc_mask) as observed,
    priorities_of(case when s.needed & (255 - p.pfc_mask) <> 0 then s.needed else s.pfc_mask end) as expected,
    s.pfc_mask is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    s.needed & (255 - p.pfc_mask) <> 0 or p.pfc_mask & (255 - s.pfc_mask) <> 0 as fault,
    p.netdev as detail,
    p.inferred,
    case when s.needed & (255 - p.pfc_mask) <> 0 or s.pfc_mask = 0 then 'high' else 'low' end as severity
from port_qos as p
cross join wanted as s
