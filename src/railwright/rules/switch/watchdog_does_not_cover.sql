/* +++
id = "SWQ-08"
title = "The PFC watchdog does not guard a lossless priority"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.system", "end_scope.pfc_mask", "end_scope.watchdog_mask"]
message = "{subject} has its PFC watchdog on for priorities {observed}, PFC is on for {expected}"
setting = "switch.pfc_watchdog"
since = "0.3"
sources = ["review SWQ-08", "incident I-113, I-114"]

[uses]
"site.pfc_watchdog" = "nothing is wanted where the site says nothing: some switch it off on purpose"
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
A NIC that pauses without end stops the switch in front of it, then that one's neighbours. The watchdog is what ends it, for
the priorities that it was given: one that it was not given stays stuck.

## What to do
Set the watchdog for the priorities with PFC (SONiC: `pfcwd start`, which takes them from `pfc_enable`; EOS: `priority-flow-control pause watchdog`). A restart leaves the
queues unguarded for a moment.

## When it is wrong
Onyx does not tell its watchdog in what is read: its ports are not judged. Sites that want no watchdog say `pfc_watchdog = false`, or nothing.
*/
select
    e.target,
    e.port,
    priorities_of(e.watchdog_mask) as observed,
    priorities_of(e.pfc_mask) as expected,
    s.pfc_watchdog is not null and s.pfc_watchdog
        and e.kind = 'switch' and e.system <> 'onyx' and e.role in ('compute', 'fabric') and e.pfc_mask <> 0 as applies,
    e.pfc_mask & (255 - e.watchdog_mask) <> 0 as fault,
    e.inferred
from end_scope as e
cross join site as s
where e.kind = 'switch' or e.kind is null
