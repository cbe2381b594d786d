/* +++
id = "SWQ-05"
title = "Marking begins where pausing has begun already"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.ecn_enabled",
  "port_class.ecn_minimum_bytes", "port_class.ecn_maximum_bytes", "port_class.pause_threshold_bytes",
]
message = "{subject} marks {observed}, and pauses {expected}"
setting = "switch.ecn"
preview = true
since = "0.3"
sources = [
  "review SWQ-05", "SONiC wiki, Enable ECN on lossless queues", "incident I-112",
  "judgement: one sender to one receiver, so that the ingress buffer holds what the queue holds",
]

[grades]
high = "marking begins at or above the filling at which pauses begin"
info = "only the end of the marking ramp lies above it"

[uses]
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
ECN is to slow senders down before PFC must stop them. Where the pause comes first, the ramp of marks is never reached: every burst
is answered by stopping a whole neighbour.

## What to do
Lower the minimum of the marking profile well below the pause threshold, or raise that one. Buffer changes can drop traffic or need a reload
of the QoS configuration on several platforms: in a maintenance window.

## When it is wrong
Marks look at the egress queue, pauses at the ingress buffer: with many senders to one port the queue fills before any ingress buffer does. With
a dynamic threshold, which moves with the free pool, nothing can be said: such a port is unknown.
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
