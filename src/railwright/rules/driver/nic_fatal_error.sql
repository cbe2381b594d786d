/* +++
id = "nic-fatal-error"
aliases = ["DRV-04"]
title = "Fatal NIC error, not recovered"
severity = "blocker"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed} since its driver was loaded"
action = "reset"
disturbs = "NIC reset"
since = "0.2"
sources = [
  "review DRV-04, G-ROLE",
  "NVSentinel nic-health-monitor docs/nic-health-monitor.md (fatal list)",
  "incident I-103",
  "Linux mlx5 core health.c, cmd.c, main.c",
]

[unless]
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"kernel_message.pci" = "every message of a NIC driver names one"
"kernel_message.text" = "which health message it is"
"kernel_message.severity" = "some health messages have none: those are all fatal"
"kernel_message.command" = {purpose = "words"}
"nic_scope.driver" = "used only where a probe failed: whether a driver is attached now"
"nic_scope.role" = "a dead NIC has no port and so no role; only management and unused ports are skipped"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
The card no longer responds to its driver. The link may still be up and the port may still show ACTIVE, while every job that
uses it hangs or fails.

## What to do
1. Drain the host.
2. Read the whole message in the kernel log. Save the log and a firmware trace (`mstdump`) for the vendor: the reset erases
   them.
3. Reload the driver.
4. If that does not help, run `mlxfwreset` (takes down every function of the card).
5. If that does not help, do a cold power cycle.
6. If that does not help, reseat or replace the card.

## Exceptions
A deliberate reset prints some of these messages while it is under way. A successful recovery reloads the driver and is
reported as `nic-fatal-error-recovered`.
*/
with errors as (
    select
        e.target,
        e.pci,
        e.kind,
        case e.kind when 'health' then e.text when 'probe_failed' then 'probe failed' else e.command || ' timed out' end as words
    from kernel_message as e
    left join driver_load as l on l.target = e.target and l.pci = e.pci
    where (l.place is null or e.place > l.place)
        and (
            e.kind in ('command_timeout', 'probe_failed')
            or (
                e.kind = 'health'
                and (e.severity is null or e.severity <= 2 or e.text in ('unrecoverable hardware error', 'HW fatal error'))
            )
        )
),

counted as (
    select
        target,
        pci,
        count(*) filter (kind <> 'probe_failed') as fatal,
        count(*) filter (kind = 'probe_failed') as probes_failed,
        string_agg(distinct words, ', ' order by words) as words
    from errors
    group by target, pci
)

select
    n.target,
    n.pci,
    e.words as observed,
    'no fatal error' as expected,
    not is_of_other_vendor(n.vendor)
        and not coalesce(n.role, '') in ('management', 'unused') as applies, -- null: without a port, no role
    case
        when e.fatal > 0 then true
        when e.probes_failed > 0 and n.driver = '' then true
        when e.probes_failed > 0 and n.driver is null then null
        when w.is_whole or l.place is not null then false
    end as fault,
    n.device as detail,
    n.inferred
from nic_scope as n
-- The log is a ring: complete is what begins with the boot, or with the last load of the driver.
left join kernel_log as w on w.target = n.target
left join driver_load as l on l.target = n.target and l.pci = n.pci
left join counted as e on e.target = n.target and e.pci = n.pci
