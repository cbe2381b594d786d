/* +++
id = "nccl-tuning-pinned"
aliases = ["NCC-11"]
title = "NCCL tuning pinned in a host file"
severity = "low"
subject = "host"
needs = ["probe_result.status", "host_scope.gpus"]
message = "{subject} sets {observed}; expected {expected}"
action = "ask"
setting = "library.setting"
covers = ["NCC-04"]
since = "0.2"
sources = ["review NCC-04", "reference B9: leave ALGO and PROTO unset"]

[uses]
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"
+++
## Why it matters
NCCL chooses algorithm and protocol by operation, size and topology. One pinned choice is right for one benchmark and
wrong for the rest, and it outlives the release that it was measured with. NCCL_NET_GDR_READ=0 sends data through host
memory that the NIC could read from the GPU.

## What to do
Measure without the line, at the sizes of real jobs, and remove it. New jobs read the file; running jobs do not.

## Exceptions
A vendor may require one of them on a certain platform, or as a workaround for a known bug: waive it, and note the release
that fixes the bug. Only the host's configuration files are read: values that a job sets itself are not seen.
*/
with lines as (
    select
        r.target,
        s.name || '=' || s.value || ' in ' || s.file as words,
        case
            when s.file is null then false -- none of the files sets one
            when s.name = 'NCCL_NET_GDR_READ' then s.precedence = 1 and s.value = '0'
            when s.name <> '' then s.precedence = 1 and s.value <> ''
        end as is_pinned
    from probe_result as r
    left join library_setting as s
        on s.target = r.target and s.name in ('', 'NCCL_ALGO', 'NCCL_PROTO', 'NCCL_NET_GDR_READ')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
),
pinned as (
    select
        target,
        any_known(is_pinned) as fault,
        string_agg(words, ', ' order by words) filter (is_pinned) as words
    from lines
    group by target
)
select
    t.target,
    p.words as observed,
    'automatic selection by NCCL' as expected,
    h.gpus > 0 as applies,
    p.fault
from host_scope as t
left join host_scope as h on h.target = t.target
left join pinned as p on p.target = t.target
