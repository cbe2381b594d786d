/* +++
id = "intent-pfc"
aliases = ["INTENT.pfc"]
title = "PFC priorities do not match intent"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.pfc_mask"]
message = "{subject} has PFC priorities {observed}; intent is {expected}"
action = "set"
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
high = "a priority that must be lossless has no PFC, or intent is PFC off for all priorities"
low = "other priorities have PFC too"

[uses]
"site.pfc_mask" = "not checked unless the site file sets it"
"site.data_priority" = "if the site file sets it, a host needs PFC on this priority, and may have it on the other lossless ones"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A priority that should be lossless but does not pause drops packets under load, and RoCE goes back and retransmits. A
priority that pauses without need holds up everything behind it.

## What to do
1. Drain the host, one rail at a time: **the driver takes the link down and up when the PFC mask changes**.
2. Run `mlnx_qos -i NETDEV --pfc 0,0,0,1,0,0,0,0` (or `dcb pfc set dev NETDEV prio-pfc all:off 3:on`) for priority 3
   alone. Read the mask back whatever the command said: it may have been applied although the command failed.
3. Let a boot unit or the NIC operator set it: the value is lost at reboot. If firmware DCBX or lldpad is active, it is
   overwritten again (`intent-dcbx-owner`).

## Exceptions
If several priorities are lossless, a host must have the priority of its data; the others are for switches and storage. If
ports carry another class of lossless traffic by design, give them another role in the site file. On a bond, the members
are checked: one wrong member is enough for a finding. If two tools contradict each other, the check is inconclusive.
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
