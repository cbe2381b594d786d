/* +++
id = "switch-pause-storm"
aliases = ["SWQ-09"]
title = "PFC storm detected by the watchdog"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "end_scope.watchdog_mask",
  "switch_counter.value", "before.switch_counter.value",
]
message = "{subject}: {observed}"
action = "ask"
baseline = true
since = "0.3"
sources = ["review SWQ-09, G-WINDOW", "incident I-071"]

[uses]
"probe_result.status" = "SONiC and EOS list only queues that had a storm: whether the list was read"
"before.probe_result.status" = "likewise"
"end_scope.peer" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A storm is a link partner that pauses without end. While it lasts, the watchdog drops packets to that port, in a class that
must not lose any. Before the watchdog acts, the pauses have already spread to other ports.

## What to do
1. Check the link partner: a NIC or host that does not accept its packets (`pcie-back-pressure`, `nic-pause-storm` and
   `pcie-link-downtrained` there).
2. Check whether its PFC priorities match those of the switch (`link-lossless-differs`).

## Exceptions
Storms during a host reboot or a driver load end with it. If the counters decreased between the snapshots, they were cleared
and the check is inconclusive. SONiC and EOS report the watchdog and its counters; where neither is reported (Onyx, and
Cumulus unless imported port by port), the check is inconclusive.
*/
with listed as (
    select distinct target from probe_result where instance in ('show pfcwd stats', 'show priority-flow-control counters watchdog') and status = 'ok'
),

listed_before as (
    select distinct target from before.probe_result where instance in ('show pfcwd stats', 'show priority-flow-control counters watchdog') and status = 'ok'
),

counted as (
    select
        n.target,
        n.port,
        case when b.port is not null then b.value when l.target is not null then 0 end as earlier,
        n.value,
        epoch(n.read_at) - epoch(b.read_at) as seconds
    from switch_counter as n
    left join before.switch_counter as b
        on b.target = n.target and b.port = n.port and b.counter = n.counter and b.number = n.number and b.probe = n.probe
    left join listed_before as l on l.target = n.target
    where n.counter = 'queue_storms'
),

told as (
    select target, port, sum_known(case when value >= earlier then value - earlier end) as rise, max(seconds) as seconds
    from counted
    group by target, port
),

-- A port that was in the list before and is missing now was cleared.
before_now as (
    select distinct target, port from before.switch_counter where counter = 'queue_storms'
),

storms as (
    select
        e.target,
        e.port,
        case when t.target is not null then t.rise when l.target is not null and b.target is null then 0 end as rise,
        t.target is null and l.target is null and b.target is null as is_uncounted,
        t.seconds
    from end_scope as e
    left join told as t on t.target = e.target and t.port = e.port
    left join listed as l on l.target = e.target
    left join before_now as b on b.target = e.target and b.port = e.port
)

select
    e.target,
    e.port,
    case s.rise when 1 then '1 PFC storm' else s.rise || ' PFC storms' end as observed,
    'none' as expected,
    e.kind = 'switch' and e.role in ('compute', 'storage', 'fabric')
        and e.watchdog_mask <> 0 as applies,
    s.rise > 0 as fault,
    'link partner ' || e.peer || case when s.seconds is not null then printf(', in %.0f s', s.seconds) else '' end as detail,
    e.inferred,
    case
        when e.kind is null or e.role is null then null
        when s.rise is null and not s.is_uncounted then null
        else concat_ws(
            ',', case when e.watchdog_mask is null then 'pfc_watchdog' end, case when s.is_uncounted then 'storm_counter' end
        )
    end as unread_facts
from end_scope as e
left join storms as s on s.target = e.target and s.port = e.port
where e.kind = 'switch' or e.kind is null
