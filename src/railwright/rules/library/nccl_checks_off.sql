/* +++
id = "nccl-checks-off"
aliases = ["NCC-03"]
title = "NCCL checks disabled in a host file"
severity = "medium"
subject = "host"
needs = ["probe_result.status", "host_scope.gpus"]
message = "{subject} sets {observed}; expected {expected}"
action = "set"
setting = "library.setting"
since = "0.2"
sources = ["review NCC-03", "incident I-028 I-030"]

[uses]
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"
+++
## Why it matters
NCCL_IGNORE_NET_MISMATCH lets a job start although a rank sees fewer NICs than the others; the job then spins forever.
NCCL_CHECKS_DISABLE disables the argument checks. Both turn a specific error into a hang or a slow job.

## What to do
1. Remove the line from the file named in the finding. New jobs read the file; running jobs do not.
2. Find what the line was meant to hide: usually a NIC that one rank could not open.

## Exceptions
Pools of mixed nodes may need NCCL_IGNORE_NET_MISMATCH: waive it there. Some releases have it on by default. Only the
host's configuration files are read: values that a job sets itself are not seen.
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
    -- Hosts without a GPU do not run NCCL.
    h.gpus > 0 as applies,
    l.fault
from host_scope as t
left join host_scope as h on h.target = t.target
left join left_on as l on l.target = t.target
