/* +++
id = "switch-watchdog-missing"
aliases = ["SWQ-08"]
title = "PFC watchdog off on a lossless priority"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has PFC watchdog priorities {observed}; PFC priorities are {expected}"
action = "set"
setting = "switch.pfc_watchdog"
since = "0.3"
sources = ["review SWQ-08", "incident I-113, I-114"]

[uses]
"switch_fact.state" = "a system that has no watchdog guards nothing"
"site.pfc_watchdog" = "no intent to compare with if the site file does not set it: some sites turn it off on purpose"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A NIC that pauses without end stops the switch in front of it, then that switch's link partners. The watchdog ends this, but
only for the priorities that it covers: any other priority stays stuck.

## What to do
Set the watchdog for the priorities with PFC (SONiC: `pfcwd start`, which takes them from `pfc_enable`; EOS:
`priority-flow-control pause watchdog`). `start_default` does nothing on most systems, without a message. A restart leaves
the queues unguarded for a moment.

## Exceptions
If the site does not use a watchdog, set `pfc_watchdog = false` in the site file, or leave it unset. If a switch has no
watchdog, waive the finding or set `pfc_watchdog = false`. If a switch does not report its watchdog, the check is
inconclusive: Onyx never does, and Cumulus only port by port (`nv show interface PORT qos pfc-watchdog`, imported).
*/
select
    e.target,
    e.port,
    case when f.state = 'lacking' then 'none (the switch has no watchdog)' else priorities_of(e.watchdog_mask) end as observed,
    priorities_of(e.pfc_mask) as expected,
    s.pfc_watchdog is not null and s.pfc_watchdog
        and e.kind = 'switch' and e.role in ('compute', 'fabric') and e.pfc_mask <> 0 as applies,
    case when f.state = 'lacking' then e.pfc_mask <> 0 else e.pfc_mask & (255 - e.watchdog_mask) <> 0 end as fault,
    e.inferred,
    case when e.kind is not null and e.role is not null and e.pfc_mask is not null then 'pfc_watchdog' end as unread_facts
from end_scope as e
cross join site as s
left join switch_fact as f on f.target = e.target and f.fact = 'pfc_watchdog'
where e.kind = 'switch' or e.kind is null
