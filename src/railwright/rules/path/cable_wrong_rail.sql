/* +++
id = "cable-wrong-rail"
aliases = ["TOP-01"]
title = "Compute port on the wrong rail"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.peer"]
message = "{subject} is cabled to {observed}; the plan has {expected}"
action = "reseat"
since = "0.3"
sources = ["review TOP-01 (with a plan)", "incident I-131"]

[uses]
"planned_link.rail" = "the plan; without one nothing is checked"
"end_scope.device" = "only to find the plan's entry for a host's port"
"planned_link.peer" = {purpose = "words"}
"planned_link.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
In a rail fabric the same NIC of every host connects to one leaf. A cable in another rail's leaf sends that rail's traffic
over the spines, where it competes with all other traffic, and troubleshooting looks at the counters of the wrong switch.

## What to do
1. Trace the cable: usually two cables of one host are swapped, and both are reported here.
2. Re-cable in a maintenance window: both links go down.

## Exceptions
Only leaves whose planned ports all belong to one rail can be compared. A port without an LLDP neighbor, or with one that is
not in the plan, is reported by `cable-unlike-plan`.
*/
with leaves as (
    select target, case when min(rail) = max(rail) then min(rail) end as rail
    from planned_link
    group by target
)

select
    e.target,
    e.port,
    'rail ' || l.rail as observed,
    'rail ' || p.rail as expected,
    p.rail is not null and e.kind = 'host' and e.role = 'compute'
        and case when e.peer is not null then l.rail is not null end as applies,
    l.rail <> p.rail as fault,
    e.peer || ', planned ' || p.peer || ':' || p.peer_port as detail,
    e.inferred
from end_scope as e
left join end_plan as p on p.target = e.target and p.port = e.port
left join leaves as l on l.target = e.peer
where e.kind = 'host' or e.kind is null
