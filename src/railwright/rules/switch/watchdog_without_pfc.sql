/* +++
id = "SWQ-14"
title = "The PFC watchdog watches a priority without PFC"
severity = "low"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.system", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has its PFC watchdog on for priorities {observed}, PFC is on for {expected}"
setting = "switch.pfc_watchdog"
implied_by = ["SWQ-01", "SWQ-08"]
since = "0.3"
sources = ["incident I-113, I-114", "judgement: harmless until PFC moves, and then a queue may stay in storm state"]

[uses]
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
A watchdog that does not follow PFC was left over from an earlier setting. When PFC is moved while it watches, a queue has been seen
to stay in storm state, dropping what it carries.

## What to do
Start the watchdog anew for the priorities with PFC (SONiC: `pfcwd stop`, `pfcwd start`). It leaves the queues unguarded for a moment.

## When it is wrong
Onyx does not tell its watchdog in what is read: its ports are not judged. Where PFC itself is missing on that priority, the fault is there (SWQ-01).
*/
select
    e.target,
    e.port,
    priorities_of(e.watchdog_mask) as observed,
    priorities_of(e.pfc_mask) as expected,
    e.kind = 'switch' and e.system <> 'onyx' and e.role in ('compute', 'fabric') and e.watchdog_mask <> 0 as applies,
    e.watchdog_mask & (255 - e.pfc_mask) <> 0 as fault,
    e.inferred
from end_scope as e
where e.kind = 'switch' or e.kind is null
