/* +++
id = "TOP-01"
title = "A compute port is cabled to another rail than planned"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.peer"]
message = "{subject} is cabled to {observed}, the plan has {expected}"
since = "0.3"
sources = ["review TOP-01 (with a plan)", "incident I-131"]

[uses]
"planned_link.rail" = "the plan; without one nothing can be told"
"end_scope.device" = "only to find the plan's row of a host's port"
"planned_link.peer" = {purpose = "words"}
"planned_link.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
In a rail fabric the same NIC of every host meets on one leaf. A cable in another rail's leaf sends that rail's traffic over the spines, where it meets
all others, and the counters of the wrong switch are looked at.

## What to do
Follow the cable: usually two of one host are swapped, and both are named here. Re-cable in a window: both links go down.

## When it is wrong
Only leaves whose planned ports all belong to one rail can tell. A port that hears nobody, or somebody whom the plan does not know, is TOP-02's.
*/
with leaves as (
    select target, case when min(rail) = max(rail) then min(rail) end as rail
    from planned_link
    group by target
)

select
    e.target,
    e.port,
    'rail ' || l.rail || ' (' || e.peer || ')' as observed,
    'rail ' || p.rail || ' (' || p.peer || ':' || p.peer_port || ')' as expected,
    p.rail is not null and e.kind = 'host' and e.role = 'compute'
        and case when e.peer is not null then l.rail is not null end as applies,
    l.rail <> p.rail as fault,
    e.inferred
from end_scope as e
left join end_plan as p on p.target = e.target and p.port = e.port
left join leaves as l on l.target = e.peer
where e.kind = 'host' or e.kind is null
