/* +++
id = "SWQ-08"
title = "The PFC watchdog does not guard a lossless priority"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has its PFC watchdog on for priorities {observed}, PFC is on for {expected}"
setting = "switch.pfc_watchdog"
since = "0.3"
sources = ["review SWQ-08", "incident I-113, I-114"]

[uses]
"switch_fact.state" = "a system that has no watchdog guards nothing"
"site.pfc_watchdog" = "nothing is wanted where the site says nothing: some switch it off on purpose"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A NIC that pauses without end stops the switch in front of it, then that one's neighbours. The watchdog is what ends it, for
the priorities that it was given: one that it was not given stays stuck.

## What to do
Set the watchdog for the priorities with PFC (SONiC: `pfcwd start`, which takes them from `pfc_enable`; EOS: `priority-flow-control pause watchdog`). A restart leaves the
queues unguarded for a moment.

## When it is wrong
Sites that want no watchdog say `pfc_watchdog = false`, or nothing.
*/
select
    e.target,
    e.port,
    case when f.state = 'lacking' then 'none: the switch has no watchdog' else priorities_of(e.watchdog_mask) end as observed,
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
