/* +++
id = "SWQ-01"
title = "A switch port's PFC is not that of the site"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask"]
message = "{subject} has PFC on for priorities {observed}, the site wants {expected}"
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
high = "a wanted priority has no PFC, or the site wants none at all"
info = "all wanted priorities have it, and others too"

[uses]
"site.pfc_mask" = "nothing is wanted where the site says nothing"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A priority is lossless only if every hop pauses it. One port that does not drops under load, and RoCE goes back and sends
again. PFC on further priorities costs the buffer that is kept for them.

## What to do
Set PFC for these priorities at this port, as its neighbours have it (SONiC: `PORT_QOS_MAP` `pfc_enable`; Cumulus: `nv set qos roce`;
EOS: `priority-flow-control priority 3 no-drop`; Onyx: `dcb priority-flow-control priority 3 enable`). Some systems take the link down
for it: drain what is behind the port first.

## When it is wrong
Only ports with a compute port or another switch behind them are judged, as LLDP tells. Several presets have a second lossless
priority: that is mere information.
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
