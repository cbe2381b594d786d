/* +++
id = "NCC-04"
title = "A file of the host keeps NCCL off RDMA or GPUDirect"
severity = "high"
subject = "host"
needs = ["probe_result.status", "port_scope.role"]
message = "{subject} sets {observed}; wanted: {expected}"
cost = "33 instead of 93 GB/s all-reduce without GPUDirect (incident I-001)"
since = "0.2"
sources = ["review NCC-04", "incident I-001 I-005", "reference B9"]

[uses]
"library_setting.value" = "a variable that is not set has no row; probe_result tells whether the files were read"
"library_setting.precedence" = "a variable that is not set has no row; probe_result tells whether the files were read"
"gpu_direct.peermem_module" = "asked only where dma-buf is switched off"
+++
## Why it matters
Somebody was looking for a fault and the line stayed. NCCL_IB_DISABLE=1 and NCCL_NET=Socket put all traffic on TCP;
NCCL_NET_GDR_LEVEL=LOC (or 0), and NCCL_DMABUF_ENABLE=0 without the peermem module, send it through host memory. Jobs run,
at a third of the speed or less.

## What to do
Remove the line from the file that is named, then run an all-reduce test: the fault that it hid (error 4 with ACS on, for
example) may come back and wants its own cure. New jobs read the file, running ones do not.

## When it is wrong
Jobs of one node do not mind, and with another network plugin (libnccl-net of a cloud or a vendor) NCCL_IB_DISABLE is
harmless. Only the host's configuration files are read: what a job sets itself is not seen.
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
    -- A host that was read and has no RDMA port has nothing to be kept off.
    select r.target, any_known(case when p.device is null then false else p.role = 'compute' end) as has_ports
    from probe_result as r
    left join port_scope as p on p.target = r.target
    where r.probe = 'infiniband' and r.status in ('ok', 'absent')
    group by r.target
)
select
    t.target,
    l.words as observed,
    'NCCL left to use RDMA and GPUDirect' as expected,
    c.has_ports as applies,
    l.fault
from host_scope as t
left join compute as c on c.target = t.target
left join left_on as l on l.target = t.target
