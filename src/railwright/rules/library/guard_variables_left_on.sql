/* +++
id = "NCC-03"
title = "A file of the host switches NCCL's own checks off"
severity = "medium"
subject = "host"
needs = ["probe_result.status", "host_scope.gpus"]
message = "{subject} sets {observed}; wanted: {expected}"
since = "0.2"
sources = ["review NCC-03", "incident I-028 I-030"]

[uses]
"library_setting.value" = "a variable that is not set has no row; probe_result tells whether the files were read"
"library_setting.precedence" = "a variable that is not set has no row; probe_result tells whether the files were read"
+++
## Why it matters
NCCL_IGNORE_NET_MISMATCH lets a job start although a rank sees fewer NICs than the others; it then spins for ever.
NCCL_CHECKS_DISABLE takes away the checks of arguments. Both turn an error with a name into a hang or a slow job.

## What to do
Remove the line from the file that is named, and look at what it was meant to hide: mostly a NIC that one rank could not
open. New jobs read the file, running ones do not.

## When it is wrong
Pools of mixed nodes may need NCCL_IGNORE_NET_MISMATCH, and some releases have it on by default. Only the host's
configuration files are read: what a job sets itself is not seen.
*/
with left_on as (
    select
        r.target,
        any_known(case
            when s.file is null then false -- none of the files sets it
            when s.name <> '' then s.precedence = 1 and s.value <> '' and s.value <> '0'
        end) as fault,
        string_agg(s.name || '=' || s.value || ' in ' || s.file, ', ' order by s.name)
            filter (s.precedence = 1 and s.value <> '' and s.value <> '0') as words
    from probe_result as r
    left join library_setting as s
        on s.target = r.target and s.name in ('', 'NCCL_IGNORE_NET_MISMATCH', 'NCCL_CHECKS_DISABLE')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
)
select
    t.target,
    l.words as observed,
    'neither NCCL_IGNORE_NET_MISMATCH nor NCCL_CHECKS_DISABLE' as expected,
    -- Where there is no GPU, nobody runs NCCL.
    h.gpus > 0 as applies,
    l.fault
from host_scope as t
left join host_scope as h on h.target = t.target
left join left_on as l on l.target = t.target
