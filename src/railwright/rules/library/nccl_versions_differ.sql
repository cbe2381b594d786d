/* +++
id = "nccl-versions-differ"
aliases = ["N-22"]
title = "NCCL version or network mismatch between ranks"
severity = "high"
subject = "host"
needs = ["nccl_process.nccl_version", "nccl_process.network"]
message = "{subject}: one run has {observed}; it needs {expected}"
action = "ask"
preview = true
since = "0.2"
sources = ["review N-22", "judgement: as far as a log tells"]
+++
## Why it matters
NCCL ranks use a protocol that changes between releases, and so do network plugins. Two versions in one job end in a hang,
a crash, or an error that names neither.

## What to do
Start all ranks from one container image or one environment. Check LD_LIBRARY_PATH and NCCL_NET_PLUGIN on the hosts that
differ. The log lines "NCCL version" and "Using network" show which rank uses which.

## Exceptions
The rule reads imported NCCL logs, under the machine that they were imported as. Many releases print their version at rank
0 only; the versions of the other ranks are then unknown. The plugin's own version and UCX are not in the log.
*/
with runs as (
    select
        target,
        run,
        case
            when count(distinct nccl_version) > 1 or count(distinct network) > 1 then true
            when count(nccl_version) = count(*) and count(network) = count(*) then false
        end as differs,
        array_to_string(list_sort(list(distinct concat_ws(' over ', 'NCCL ' || nccl_version, network))), ', ') as words
    from nccl_process
    group by target, run
),
logs as (
    select target, any_known(differs) as fault, min(words) filter (differs) as words
    from runs
    group by target
)
select
    t.target,
    l.words as observed,
    'one version and one network' as expected,
    -- Logs are imported by hand: a missing log is not a gap.
    l.target is not null as applies,
    l.fault
from host_scope as t
left join logs as l on l.target = t.target
