/* +++
id = "nic-fatal-error-recovered"
aliases = ["DRV-08"]
title = "Fatal NIC error since boot, recovered"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed} earlier in this boot"
action = "ask"
implied_by = ["nic-fatal-error"]
covers = ["DRV-04"]
since = "0.2"
sources = [
  "review DRV-04 (recovered: high, not blocker)",
  "NVSentinel nic-health-monitor docs/nic-health-monitor.md (fatal list)",
  "Linux mlx5 core health.c: a recovery loads the device again",
  "judgement: a load of the driver after the error counts as recovery; devlink's health is not read",
]

[unless]
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"kernel_message.pci" = "every message of a NIC driver names one"
"kernel_message.text" = "which health message it is"
"kernel_message.severity" = "some health messages have none: those are all fatal"
"kernel_message.command" = {purpose = "words"}
"nic_scope.role" = "a function without its own port has no role; only management and unused ports are skipped"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
The card failed under its driver and recovered. Jobs that were using it lost their connections, and a card that failed once
is likely to fail again.

## What to do
1. Compare the time with jobs that failed.
2. Note the syndrome from the log for the vendor. Compare firmware and power with cards that do not fail.
3. If it fails a second time, take the card out.

## Exceptions
Expected if the driver was reloaded on purpose after an error that was caused on purpose (a reset under load): waive the
finding.
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
        and not coalesce(n.role, '') in ('management', 'unused') as applies, -- null: without a port, no role
    case when e.pci is not null then true when w.is_whole then false end as fault,
    n.device as detail,
    n.inferred
from nic_scope as n
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = n.target
left join counted as e on e.target = n.target and e.pci = n.pci
