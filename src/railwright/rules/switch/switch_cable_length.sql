/* +++
id = "switch-cable-length"
aliases = ["SWQ-07"]
title = "Configured cable length too short"
severity = "medium"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "end_scope.cable_length_m", "end_scope.cable_length_kind",
  "switch_port.cable_length_m", "switch_port.cable_length_kind",
]
message = "{subject} is configured for a cable of {observed}; the cable has {expected}"
action = "set"
setting = "switch.cable_length"
preview = true
since = "0.3"
sources = ["review SWQ-07", "incident I-111", "judgement: copper and active assemblies write their length, optics their reach"]

[uses]
"switch_port_qos.pfc_cable_length_m" = "used if the port has no length of its own: some systems have one for all ports"
"planned_link.length_m" = "the length in the plan, if the cable does not report its own"
"end_scope.device" = "only to find a host port in the plan"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The switch calculates its headroom for the configured length. A longer cable holds more packets in flight than there is room
for, and a lossless class drops them.

## What to do
In a maintenance window, set the true length (SONiC: `CABLE_LENGTH`; Cumulus: `nv set qos pfc default-global cable-length`,
one for all ports). The switch recalculates the headroom of that port, which can drop traffic.

## Exceptions
Only cables that report their own length, or that are in the cabling plan, are compared: the rated reach of an optic is not
a length.
*/
with planned as (
    select target, port, max(length_m) as length_m from end_plan group by target, port
),

configured as (
    select
        target,
        port,
        max(cable_length_m) filter (cable_length_kind = 'configured') as length_m,
        count(cable_length_kind) = count(*) as is_told
    from switch_port
    group by target, port
),

for_all as (
    select target, max(pfc_cable_length_m) as length_m from switch_port_qos where port = '' group by target
),

ends as (
    select
        e.*,
        case when c.length_m is not null then c.length_m else a.length_m end as configured_m,
        c.is_told,
        case when e.cable_length_kind = 'assembly' then e.cable_length_m else p.length_m end as real_m
    from end_scope as e
    left join planned as p on p.target = e.target and p.port = e.port
    left join configured as c on c.target = e.target and c.port = e.port
    left join for_all as a on a.target = e.target
    where e.kind = 'switch' or e.kind is null
)

select
    target,
    port,
    printf('%.0f m', configured_m) as observed,
    printf('%.0f m', real_m) as expected,
    kind = 'switch' and role in ('compute', 'storage', 'fabric')
        and case when real_m is not null then true when cable_length_kind in ('configured', 'rated reach') then false end as applies,
    configured_m < real_m as fault,
    inferred,
    case when kind is not null and role is not null and real_m is not null and is_told and configured_m is null then 'cable_length' end as unread_facts
from ends
