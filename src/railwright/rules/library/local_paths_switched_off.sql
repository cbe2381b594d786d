/* +++
id = "NCC-10"
title = "A file of the host keeps NCCL off NVLink or shared memory"
severity = "medium"
subject = "host"
needs = ["probe_result.status", "host_scope.gpus", "host_scope.virtualization"]
message = "{subject} sets {observed}; wanted: {expected}"
covers = ["NCC-04"]
since = "0.2"
sources = ["review NCC-04", "incident I-005", "judgement: guests may need it"]

[uses]
"library_setting.value" = "a variable that is not set has no row; probe_result tells whether the files were read"
"library_setting.precedence" = "a variable that is not set has no row; probe_result tells whether the files were read"
+++
## Why it matters
NCCL_P2P_DISABLE=1 takes NVLink and PCIe copies between the GPUs of a host away, NCCL_SHM_DISABLE=1 shared memory. What is
left goes through the NICs and takes the bandwidth of the rails.

## What to do
Remove the line from the file that is named and run an all-reduce on one host: if it hangs or fails, ACS or the IOMMU is
the likely cause and wants its own cure. New jobs read the file, running ones do not.

## When it is wrong
Some PCIe hosts without NVLink need it because their GPUs cannot reach one another, and so do guests, which are not asked.
Only the host's configuration files are read: what a job sets itself is not seen.
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
