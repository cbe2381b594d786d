/* +++
id = "nic-commands-fail"
aliases = ["DRV-09"]
title = "NIC firmware commands fail repeatedly"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed}"
action = "ask"
implied_by = ["nic-fatal-error", "nic-fatal-error-recovered"]
covers = ["DRV-04"]
since = "0.2"
sources = [
  "review DRV-04 (others: high at 3 in one hour), G-ROLE",
  "NVSentinel nic-health-monitor docs/nic-health-monitor.md",
  "gpud class.go: ACCESS_REG errors of restricted functions",
  "judgement: ACCESS_REG that was refused as a bad question is not counted, tools ask it of healthy cards",
]

[parameters.least_errors]
default = 3
unit = "messages"
reason = "review DRV-04, as NVSentinel escalates"

[parameters.window_s]
default = 3600
unit = "s"
reason = "review DRV-04, as NVSentinel escalates"

[unless]
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"kernel_message.pci" = "every message of a NIC driver names one"
"kernel_message.seconds" = "NULL where the log prints dates; used only where the errors are many enough"
"kernel_message.text" = "the firmware's status, which distinguishes a bad request from a bad card"
"kernel_message.command" = "which command failed"
"kernel_message.severity" = "only health messages have one"
"nic_scope.role" = "a function without its own port has no role; only management and unused ports are skipped"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
One refused command is harmless. Several in an hour on one NIC mean that its firmware, its driver or what jobs request of
them do not fit together.

## What to do
1. Read the commands and syndromes in the kernel log.
2. If all NICs of the host show the same errors, driver and firmware do not fit together, or a job requests something that
   the card does not support.
3. If only one NIC shows them, compare its firmware, then reload the driver, then do a firmware reset (takes down every
   function of the card).

## Exceptions
A faulty program may create objects that the card refuses. The errors may be old: all messages since the driver was loaded
count, and the log shows when they were written.
*/
with errors as (
    select
        e.target,
        e.pci,
        e.seconds,
        case e.kind when 'health' then e.text else e.command || ' ' || e.text end as words,
        e.seconds - lag(e.seconds, $least_errors - 1) over (partition by e.target, e.pci order by e.place) as span_s
    from kernel_message as e
    left join driver_load as l on l.target = e.target and l.pci = e.pci
    where (l.place is null or e.place > l.place)
        and (
            (
                e.kind = 'command_error'
                and not (e.command like 'ACCESS_REG%' and (e.text like 'bad parameter%' or e.text like 'bad operation%'))
            )
            or (e.kind = 'health' and e.severity > 2)
        )
),

counted as (
    select
        target,
        pci,
        count(*) as count,
        count(seconds) as timed,
        min(span_s) as shortest_s,
        string_agg(distinct words, ', ' order by words) as words
    from errors
    group by target, pci
)

select
    n.target,
    n.pci,
    c.count || ' errors: ' || c.words as observed,
    'fewer than ' || $least_errors || ' in ' || $window_s || ' s' as expected,
    not is_of_other_vendor(n.vendor)
        and not coalesce(n.role, '') in ('management', 'unused') as applies, -- null: without a port, no role
    case
        when c.shortest_s <= $window_s then true
        when c.count >= $least_errors and c.timed < c.count then null
        when w.is_whole or l.place is not null then false
    end as fault,
    n.device as detail,
    n.inferred
from nic_scope as n
-- The log is a ring: complete is what begins with the boot, or with the last load of the driver.
left join kernel_log as w on w.target = n.target
left join driver_load as l on l.target = n.target and l.pci = n.pci
left join counted as c on c.target = n.target and c.pci = n.pci
