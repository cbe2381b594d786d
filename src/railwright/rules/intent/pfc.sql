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
since = "0.2"
sources = ["review QOS-02, EFFECTS", "reference B3", "incident I-059", "Linux mlx5 en_dcbnl.c"]

[uses]
"site.pfc_mask" = "nothing is wanted where the site says nothing"
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
Ports that carry another class of lossless traffic by design: give them another role in the site file. The QoS of a bond is
that of its members: one that is wrong is enough. Two tools that contradict each other leave the port unknown too.
*/
select
    p.target,
    p.device,
    p.port,
    priorities_of(p.pfc_mask) as observed,
    priorities_of(s.pfc_mask) as expected,
    s.pfc_mask is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    p.pfc_mask <> s.pfc_mask as fault,
    p.netdev as detail,
    p.inferred
from port_qos as p
cross join site as s
