/* +++
id = "TOP-04"
title = "A compute port is cabled to another plane than planned"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.peer"]
message = "{subject} is cabled to {observed}, the plan has {expected}"
since = "0.3"
sources = ["judgement: the same edge check as TOP-01, for planes"]

[uses]
"planned_link.plane" = "the plan; without one nothing can be told"
"end_scope.device" = "only to find the plan's row of a host's port"
"planned_link.peer" = {purpose = "words"}
"planned_link.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Planes are separate networks: the two ports of a NIC, or its halves, go to different ones so that either may fail. A cable in the wrong plane
joins them: a fault of one plane then takes both, and addresses of one plane have no way.

## What to do
Follow the cable: usually two of one host are swapped, and both are named here. Re-cable in a window: both links go down.

## When it is wrong
Only leaves whose planned ports all belong to one plane can tell. A port that hears nobody, or somebody whom the plan does not know, is TOP-02's.
*/
with leaves as (
    select target, case when min(plane) = max(plane) then min(plane) end as plane
    from planned_link
    group by target
)

select
    e.target,
    e.port,
    'plane ' || l.plane || ' (' || e.peer || ')' as observed,
    'plane ' || p.plane || ' (' || p.peer || ':' || p.peer_port || ')' as expected,
    p.plane is not null and e.kind = 'host' and e.role = 'compute'
        and case when e.peer is not null then l.plane is not null end as applies,
    l.plane <> p.plane as fault,
    e.inferred
from end_scope as e
left join end_plan as p on p.target = e.target and p.port = e.port
left join leaves as l on l.target = e.peer
where e.kind = 'host' or e.kind is null
