/* +++
id = "nccl-local-paths-off"
aliases = ["NCC-10"]
title = "NVLink or shared memory disabled for NCCL"
severity = "medium"
subject = "host"
needs = ["probe_result.status", "host_scope.gpus", "host_scope.virtualization"]
message = "{subject} sets {observed}; expected {expected}"
action = "set"
setting = "library.setting"
covers = ["NCC-04"]
since = "0.2"
sources = ["review NCC-04", "incident I-005", "judgement: guests may need it"]

[uses]
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"
+++
## Why it matters
NCCL_P2P_DISABLE=1 disables NVLink and PCIe copies between the GPUs of a host; NCCL_SHM_DISABLE=1 disables shared memory.
The traffic then goes through the NICs and uses the bandwidth of the rails.

## What to do
1. Remove the line from the file named in the finding. New jobs read the file; running jobs do not.
2. Run an all-reduce on one host. If it hangs or fails, ACS or the IOMMU is the likely cause and needs its own fix.

## Exceptions
Some PCIe hosts without NVLink need it because their GPUs cannot reach one another: waive it there. Guests may need it too
and are not checked. Only the host's configuration files are read: values that a job sets itself are not seen.
*/
with left_on as (
    select
        r.target,
        any_known(case
            when s.file is null then false -- none of the files sets one
            when s.name <> '' then s.precedence = 1 and s.value <> '' and s.value <> '0'
        end) as fault,
        string_agg(s.name || '=' || s.value || ' in ' || s.file, ', ' order by s.name)
            filter (s.precedence = 1 and s.value <> '' and s.value <> '0') as words
    from probe_result as r
    left join library_setting as s
        on s.target = r.target and s.name in ('', 'NCCL_P2P_DISABLE', 'NCCL_SHM_DISABLE')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
)
select
    t.target,
    l.words as observed,
    'neither NCCL_P2P_DISABLE nor NCCL_SHM_DISABLE' as expected,
    h.gpus > 1 and h.virtualization <> 'guest' as applies,
    l.fault
from host_scope as t
left join host_scope as h on h.target = t.target
left join left_on as l on l.target = t.target
