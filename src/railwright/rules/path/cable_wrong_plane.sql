/* +++
id = "cable-wrong-plane"
aliases = ["TOP-04"]
title = "Compute port on the wrong plane"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.peer"]
message = "{subject} is cabled to {observed}; the plan has {expected}"
action = "reseat"
since = "0.3"
sources = ["judgement: the same edge check as cable-wrong-rail, for planes"]

[uses]
"planned_link.plane" = "the plan; without one nothing is checked"
"end_scope.device" = "only to find the plan's entry for a host's port"
"planned_link.peer" = {purpose = "words"}
"planned_link.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Planes are separate networks: the two ports of a NIC, or its halves, go to different planes so that either may fail. A cable
in the wrong plane joins them: a fault in one plane then takes down both, and addresses of one plane have no route.

## What to do
1. Trace the cable: usually two cables of one host are swapped, and both are reported here.
2. Re-cable in a maintenance window: both links go down.

## Exceptions
Only leaves whose planned ports all belong to one plane can be compared. A port without an LLDP neighbor, or with one that
is not in the plan, is reported by `cable-unlike-plan`.
*/
with leaves as (
    select target, case when min(plane) = max(plane) then min(plane) end as plane
    from planned_link
    group by target
)

select
    e.target,
    e.port,
    'plane ' || l.plane as observed,
    'plane ' || p.plane as expected,
    p.plane is not null and e.kind = 'host' and e.role = 'compute'
        and case when e.peer is not null then l.plane is not null end as applies,
    l.plane <> p.plane as fault,
    e.peer || ', planned ' || p.peer || ':' || p.peer_port as detail,
    e.inferred
from end_scope as e
left join end_plan as p on p.target = e.target and p.port = e.port
left join leaves as l on l.target = e.peer
where e.kind = 'host' or e.kind is null
