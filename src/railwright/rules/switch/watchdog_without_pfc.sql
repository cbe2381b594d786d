/* +++
id = "SWQ-14"
title = "The PFC watchdog watches a priority without PFC"
severity = "low"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has its PFC watchdog on for priorities {observed}, PFC is on for {expected}"
setting = "switch.pfc_watchdog"
implied_by = ["SWQ-01", "SWQ-08"]
since = "0.3"
sources = ["incident I-113, I-114", "judgement: harmless until PFC moves, and then a queue may stay in storm state"]

[uses]
"switch_fact.state" = "a system that has no watchdog watches nothing"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A watchdog that does not follow PFC was left over from an earlier setting. When PFC is moved while it watches, a queue has been seen
to stay in storm state, dropping what it carries.

## What to do
Start the watchdog anew for the priorities with PFC (SONiC: `pfcwd stop`, `pfcwd start`). It leaves the queues unguarded for a moment.

## When it is wrong
Where PFC itself is missing on that priority, the fault is there (SWQ-01).
*/
select
    e.target,
    e.port,
    priorities_of(e.watchdog_mask) as observed,
    priorities_of(e.pfc_mask) as expected,
    e.kind = 'switch' and e.role in ('compute', 'fabric')
        and case when f.state = 'lacking' then false else e.watchdog_mask <> 0 end as applies,
    e.watchdog_mask & (255 - e.pfc_mask) <> 0 as fault,
    e.inferred,
    case when e.kind is not null and e.role is not null and e.pfc_mask is not null then 'pfc_watchdog' end as unread_facts
from end_scope as e
left join switch_fact as f on f.target = e.target and f.fact = 'pfc_watchdog'
where e.kind = 'switch' or e.kind is null
