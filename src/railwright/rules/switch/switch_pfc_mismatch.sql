/* +++
id = "switch-pfc-mismatch"
aliases = ["SWQ-01"]
title = "Switch PFC priorities do not match intent"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask"]
message = "{subject} has PFC priorities {observed}; intent is {expected}"
action = "set"
setting = "switch.pfc"
cost = "bus bandwidth fell to 0.x GB/s without PFC on the path (incident I-059)"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.3"
sources = [
  "review SWQ-01, G-FABRIC", "incident I-059", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "sonic-buildimage files/build_templates/qos_config.j2: pfc_enable 3,4 is SONiC's preset; Dell Enterprise SONiC, roce enable: the same",
  "judgement: PFC on a priority that nothing uses costs headroom alone",
]

[grades]
high = "an intended priority has no PFC, or none is intended at all"
info = "all intended priorities have PFC, and others too"

[uses]
"site.pfc_mask" = "no intent to compare with if the site file does not set it"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A priority is lossless only if every hop pauses it. One port that does not drops packets under load, and RoCE goes back and
retransmits. PFC on additional priorities costs the buffer that is reserved for them.

## What to do
Set PFC for these priorities on this port, as on its peers (SONiC: `PORT_QOS_MAP` `pfc_enable`; Cumulus: `nv set qos roce`;
EOS: `priority-flow-control priority 3 no-drop`; Onyx: `dcb priority-flow-control priority 3 enable`). If no PFC is
intended, remove it in the same places, on the hosts first. Some systems take the link down for this: drain what is behind
the port first.

## Exceptions
Only ports with a compute port or another switch behind them, according to LLDP, are checked. Several presets have a second
lossless priority: that is reported as info only.
*/
select
    e.target,
    e.port,
    priorities_of(e.pfc_mask) as observed,
    priorities_of(s.pfc_mask) as expected,
    s.pfc_mask is not null and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    e.pfc_mask <> s.pfc_mask as fault,
    e.inferred,
    case when s.pfc_mask & (255 - e.pfc_mask) <> 0 or s.pfc_mask = 0 then 'high' else 'info' end as severity
from end_scope as e
cross join site as s
where e.kind = 'switch' or e.kind is null
