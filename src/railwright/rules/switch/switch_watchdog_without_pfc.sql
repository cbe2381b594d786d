/* +++
id = "switch-watchdog-without-pfc"
aliases = ["SWQ-14"]
title = "PFC watchdog on a priority without PFC"
severity = "low"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has PFC watchdog priorities {observed}; PFC priorities are {expected}"
action = "reset"
setting = "switch.pfc_watchdog"
implied_by = ["switch-pfc-mismatch", "switch-watchdog-missing"]
since = "0.3"
sources = ["incident I-113, I-114", "judgement: harmless until PFC moves, and then a queue may stay in storm state"]

[uses]
"switch_fact.state" = "a system that has no watchdog watches nothing"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A watchdog that does not match PFC is left over from an earlier configuration. When PFC is moved while the watchdog is
active, a queue has been seen to stay in storm state, dropping its traffic.

## What to do
Restart the watchdog for the priorities with PFC (SONiC: `pfcwd stop`, `pfcwd start`). This leaves the queues unguarded for
a moment.

## Exceptions
If PFC itself is missing on that priority, that is the fault (`switch-pfc-mismatch`).
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
