/* +++
id = "switch-ecn-after-pfc"
aliases = ["SWQ-05"]
title = "ECN threshold above the PFC threshold"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.ecn_enabled",
  "port_class.ecn_minimum_bytes", "port_class.ecn_maximum_bytes", "port_class.pause_threshold_bytes",
]
message = "{subject} marks {observed}; it pauses {expected}"
action = "ask"
setting = "switch.ecn"
preview = true
since = "0.3"
sources = [
  "review SWQ-05", "SONiC wiki, Enable ECN on lossless queues", "incident I-112",
  "judgement: one sender to one receiver, so that the ingress buffer holds what the queue holds",
]

[grades]
high = "marking starts at or above the PFC threshold"
info = "only the end of the marking ramp is above the PFC threshold"

[uses]
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
ECN should slow senders down before PFC has to stop them. If the pause comes first, the marking ramp is never reached: every
burst stops a whole link partner.

## What to do
Lower the minimum and maximum of the marking profile (Kmin, Kmax) below the pause threshold (XOFF), the minimum well below
it, or raise the pause threshold. Buffer changes can drop traffic: make them in a maintenance window. Never use
`config qos reload` of SONiC: it deletes the site's own settings.

## Exceptions
ECN marking depends on the egress queue, PFC on the ingress buffer: with many senders to one port the queue fills before any
ingress buffer does. A dynamic threshold moves with the free pool, so for such a port the check is inconclusive.
*/
with judged as (
    select
        *,
        pfc and ecn_enabled as is_asked,
        pfc and ecn_enabled and ecn_minimum_bytes >= pause_threshold_bytes as is_late,
        pfc and ecn_enabled and ecn_maximum_bytes >= pause_threshold_bytes as ends_late
    from end_class
)

select
    target,
    port,
    'from ' || (max(ecn_minimum_bytes) filter (is_late or ends_late) // 1024) || ' to '
        || (max(ecn_maximum_bytes) filter (is_late or ends_late) // 1024) || ' KiB' as observed,
    'from ' || (min(pause_threshold_bytes) filter (is_late or ends_late) // 1024) || ' KiB' as expected,
    kind = 'switch' and role in ('compute', 'fabric') and any_known(is_asked) as applies,
    any_known(is_late or ends_late) as fault,
    inferred,
    case when any_known(is_late) then 'high' else 'info' end as severity
from judged
group by target, port, kind, role, inferred
