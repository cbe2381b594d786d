/* +++
id = "pfc-deadlock-possible"
aliases = ["TOP-08"]
title = "Up-down routing violated: PFC deadlock possible"
severity = "high"
subject = "switch"
peers = true
needs = ["end_scope.pfc_mask", "end_scope.role", "route_turn.turns"]
message = "{subject} forwards packets {observed}; expected {expected}"
action = "ask"
implied_by = ["cable-unlike-plan"]
since = "0.3"
sources = [
  "incident I-071 (PFC deadlock in production)",
  "judgement: in a fabric whose routes go up and then down buffers cannot wait for one another in a circle; a turn that closes none is still a longer path",
]

[grades]
high = "cyclic buffer dependency: a deadlock may occur at any time"
medium = "packets turn, without a cyclic buffer dependency"

[uses]
"target.kind" = "the run itself records which machines are switches"
"route_turn.example" = {purpose = "words"}
"route_turn.circle" = "the severity"
+++
## Why it matters
A paused port waits for the next hop's buffer. If a chain of such waits returns to its beginning, each port waits for the
next and none ever sends: everything behind those ports stands still until a watchdog drops the packets, and then again.

## What to do
Check the reported route on this switch and on the neighbor that sends it down here: a route that was lost or left over
after a failure, a static route, a leaf that passes on routes between spines (valley-free policies, `allowas-in`, unequal AS
numbers). Routes can be corrected without touching links.

## Exceptions
Fabrics that are not a tree of tiers (rings, dragonflies) turn by design, and need other protection against deadlock: waive
it. Only prefixes that both switches have, or that a wider route covers, are followed. Ports without PFC are ignored.
*/
with lossless as (
    select target, any_known(role = 'fabric' and pfc_mask <> 0) as is_lossless
    from end_scope
    group by target
)

select
    t.target,
    case when r.turns > 0 then 'down, then up' when r.turns = 0 then 'up, then down' end as observed,
    'up, then down' as expected,
    l.is_lossless as applies,
    r.turns > 0 as fault,
    concat_ws('; ',
        case when r.example <> '' then r.example end,
        case when r.circle <> '' then 'cyclic buffer dependency: ' || r.circle else 'no cyclic buffer dependency' end
    ) as detail,
    case when r.circle <> '' then 'high' else 'medium' end as severity
from target as t
left join route_turn as r on r.target = t.target
left join lossless as l on l.target = t.target
where t.kind = 'switch'
