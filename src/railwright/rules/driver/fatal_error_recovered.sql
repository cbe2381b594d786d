/* +++
id = "DRV-08"
title = "The NIC had a fatal error since boot and was recovered"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed} earlier in this boot"
implied_by = ["DRV-04"]
covers = ["DRV-04"]
since = "0.2"
sources = [
  "review DRV-04 (recovered: high, not blocker)",
  "NVSentinel nic-health-monitor docs/nic-health-monitor.md (fatal list)",
  "Linux mlx5 core health.c: a recovery loads the device anew",
  "judgement: a load of the driver after the error counts as recovery; devlink's health is not read",
]

[unless]
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"nic_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"kernel_message.pci" = "every message of a NIC's driver names one"
"kernel_message.text" = "which health message it is"
"kernel_message.severity" = "some health messages have none: those are all fatal"
"kernel_message.command" = {purpose = "words"}
"nic_scope.role" = "a function without a port of its own has no role; only management and unused ports are left out"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
The card failed under its driver and came back. Jobs that used it then lost their connections, and a card that did this
once is likely to do it again.

## What to do
Compare the time with jobs that failed. Note the syndrome from the log for the vendor, compare firmware and power with
cards that do not do it. Take the card out at the second time.

## When it is wrong
Somebody loaded the driver anew on purpose, after an error that was made on purpose (a reset under load).
*/
with errors as (
    select e.target, e.pci, case e.kind when 'health' then e.text else e.command || ' timed out' end as words
    from kernel_message as e
    inner join driver_load as l on l.target = e.target and l.pci = e.pci and l.place > e.place
    where e.kind = 'command_timeout'
        or (
            e.kind = 'health'
            and (e.severity is null or e.severity <= 2 or e.text in ('unrecoverable hardware error', 'HW fatal error'))
        )
),

counted as (
    select target, pci, string_agg(distinct words, ', ' order by words) as words
    from errors
    group by target, pci
)

select
    n.target,
    n.pci,
    e.words as observed,
    'no fatal error since boot' as expected,
    not is_of_other_vendor(n.vendor)
        and not coalesce(n.role, '') in ('management', 'unused') as applies, -- null: without a port there is no role
    case when e.pci is not null then true when w.is_whole then false end as fault,
    n.device as detail,
    n.inferred
from nic_scope as n
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = n.target
left join counted as e on e.target = n.target and e.pci = n.pci
