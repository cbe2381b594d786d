/* +++
id = "TOP-08"
title = "Routes let lossless packets go up again: pauses may lock in a circle"
severity = "high"
subject = "switch"
peers = true
needs = ["end_scope.pfc_mask", "end_scope.role", "route_turn.turns"]
message = "{subject} sends packets up again that came down: {observed}"
implied_by = ["TOP-02"]
since = "0.3"
sources = [
  "incident I-071 (PFC deadlock in production)",
  "judgement: in a fabric whose routes go up and then down buffers cannot wait for one another in a circle; a turn that closes none is still a longer path",
]

[grades]
high = "buffers wait for one another in a circle: a deadlock may come at any time"
medium = "packets turn, and no circle is closed"

[uses]
"target.kind" = "the run itself says which machines are switches"
"route_turn.example" = {purpose = "words"}
"route_turn.circle" = "how bad it is"
+++
## Why it matters
A paused port waits for the next hop's buffer. Where a chain of such waits comes back to its beginning, each waits for the other and
none ever moves: everything behind those ports stands still until a watchdog throws the packets away, and then again.

## What to do
Look at the route that is named, at this switch and at the neighbour that sends it down here: a route that was lost or left over after a failure, a
static route, a leaf that passes on routes between spines (valley-free policies, `allowas-in`, unequal AS numbers). Routes can be mended without touching links.

## When it is wrong
Fabrics that are no tree of tiers (rings, dragonflies) turn by design, and need other means against deadlock: waive it. Only prefixes that both switches
have, or that a wider route covers, are followed. Ports without PFC are left out.
*/
with lossless as (
    select target, any_known(role = 'fabric' and pfc_mask <> 0) as is_lossless
    from end_scope
    group by target
)

select
    t.target,
    r.example as observed,
    'up, and then down' as expected,
    l.is_lossless as applies,
    r.turns > 0 as fault,
    case when r.circle <> '' then 'in a circle: ' || r.circle else 'no circle is closed' end as detail,
    case when r.circle <> '' then 'high' else 'medium' end as severity
from target as t
left join route_turn as r on r.target = t.target
left join lossless as l on l.target = t.target
where t.kind = 'switch'
