/* +++
id = "nccl-rdma-off"
aliases = ["NCC-04"]
title = "RDMA or GPUDirect disabled for NCCL"
severity = "high"
subject = "host"
needs = ["probe_result.status", "port_scope.role"]
message = "{subject} sets {observed}; expected {expected}"
action = "set"
setting = "library.setting"
cost = "33 instead of 93 GB/s all-reduce without GPUDirect (incident I-001)"
since = "0.2"
sources = ["review NCC-04", "incident I-001 I-005", "reference B9"]

[uses]
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"
"gpu_direct.peermem_module" = "read only if dma-buf is disabled"
+++
## Why it matters
Such a line is left over from troubleshooting. NCCL_IB_DISABLE=1 and NCCL_NET=Socket put all traffic on TCP.
NCCL_NET_GDR_LEVEL=LOC (or 0), and NCCL_DMABUF_ENABLE=0 without the peermem module, send it through host memory. Jobs run,
at a third of the speed or less.

## What to do
1. Remove the line from the file named in the finding. New jobs read the file; running jobs do not.
2. Run an all-reduce test. The fault that the line hid (e.g. error 4 with ACS on) may come back and needs its own fix.

## Exceptions
Single-node jobs are not affected. With another network plugin (libnccl-net of a cloud or a vendor), NCCL_IB_DISABLE is
harmless: waive it there. Only the host's configuration files are read: values that a job sets itself are not seen.
*/
with lines as (
    select
        r.target,
        s.file,
        s.name || '=' || s.value || ' in ' || s.file as words,
        case
            when s.file is null then false -- none of the files sets one
            when s.name <> '' then s.precedence = 1 and case s.name
                when 'NCCL_IB_DISABLE' then s.value <> '' and s.value <> '0'
                when 'NCCL_NET' then lower(s.value) = 'socket'
                when 'NCCL_NET_GDR_LEVEL' then upper(s.value) in ('LOC', '0')
                when 'NCCL_DMABUF_ENABLE' then s.value = '0' and g.peermem_module = ''
            end
        end as is_left_on
    from probe_result as r
    left join library_setting as s
        on s.target = r.target
        and s.name in ('', 'NCCL_IB_DISABLE', 'NCCL_NET', 'NCCL_NET_GDR_LEVEL', 'NCCL_DMABUF_ENABLE')
    left join gpu_direct as g on g.target = r.target
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
),
left_on as (
    select
        target,
        any_known(is_left_on) as fault,
        string_agg(words, ', ' order by words) filter (is_left_on) as words
    from lines
    group by target
),
compute as (
    -- A host that was read and has no RDMA port has no RDMA to disable.
    select r.target, any_known(case when p.device is null then false else p.role = 'compute' end) as has_ports
    from probe_result as r
    left join port_scope as p on p.target = r.target
    where r.probe = 'infiniband' and r.status in ('ok', 'absent')
    group by r.target
)
select
    t.target,
    l.words as observed,
    'RDMA and GPUDirect enabled' as expected,
    c.has_ports as applies,
    l.fault
from host_scope as t
left join compute as c on c.target = t.target
left join left_on as l on l.target = t.target
