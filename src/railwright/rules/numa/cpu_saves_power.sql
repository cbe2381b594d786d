/* +++
id = "cpu-saves-power"
aliases = ["NUM-03"]
title = "CPU power saving adds latency"
severity = "low"
subject = "host"
needs = ["host_scope.virtualization", "port_scope.role", "cpu_frequency.driver", "cpu_governor.governor"]
message = "{subject} has {observed}"
action = "set"
setting = "host.cpu_governor"
fix = "cpupower frequency-set -g performance"
preview = true
since = "0.2"
sources = ["review NUM-03", "NVIDIA/nccl-tests issue 374", "judgement: an energy preference of performance is as good"]

[uses]
"host_scope.is_grace" = "Grace root ports rule out a guest if lscpu cannot tell"
"cpu_governor.cpu_count" = {purpose = "words"}
"cpu_frequency.energy_preference" = "used only if the governor is not performance"
"port_scope.inferred" = {purpose = "severity"}
"probe_result.status" = "tells a host without RDMA from one that was not read"
+++
## Why it matters
NCCL's proxy threads and the doorbells of small messages run on CPUs. A CPU that has to speed up first adds microseconds now
and then: noise in latency, and in the slowest rank of a ring.

## What to do
Run `cpupower frequency-set -g performance`, or use a tuned profile that keeps it (`throughput-performance`,
`latency-performance`). It takes effect at once; only the profile persists across a reboot. Deep idle states are a separate
matter.

## Exceptions
With intel_pstate or amd-pstate in active mode, `powersave` with the energy preference `performance` is equally good, and
correct here; the preference is read from CPU 0 only. Guests have no such control.
*/
with governors as (
    select
        target,
        any_known(governor <> 'performance') as is_other,
        string_agg(governor || ' on ' || cpu_count || ' CPUs', ', ' order by governor) filter (governor <> 'performance') as words
    from cpu_governor
    group by target
),

compute as (
    select target, any_known(role = 'compute') as has_compute, bool_or(inferred) as inferred -- null: never
    from port_scope
    group by target
)

select
    h.target,
    g.words as observed,
    'performance' as expected,
    (h.virtualization <> 'guest' or h.is_grace)
        and f.driver <> ''
        and case when c.target is not null then c.has_compute when r.status is not null then false end as applies,
    case when g.is_other then f.energy_preference not in ('performance', '0') -- null: not read stays NULL
        when not g.is_other then false
    end as fault,
    case when f.energy_preference <> '' then 'energy preference ' || f.energy_preference end as detail,
    c.inferred
from host_scope as h
left join cpu_frequency as f on f.target = h.target
left join governors as g on g.target = h.target
left join compute as c on c.target = h.target
left join probe_result as r on r.target = h.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
