/* +++
id = "peermem-not-registered"
aliases = ["GDR-08"]
title = "Peer memory module loaded but not registered"
severity = "high"
subject = "host"
action = "reset"
setting = "host.peermem"
disturbs = "running jobs"
needs = ["host_scope.nvidia_gpus", "gpu_direct.peermem_module", "gpu_direct.memory_peers", "kernel_module.taints"]
message = "{subject} has {observed}, but no GPU memory is registered with the RDMA stack"
covers = ["GDR-10"]
cost = "33 instead of 93 GB/s without GPUDirect (incident I-001)"
since = "0.2"
sources = ["review GDR-08 and GDR-10", "incident I-014", "incident I-015", "incident I-016",
    "incident I-100", "NVIDIA/nccl src/transport/net_ib/gdr.cc"]

[uses]
"gpu_direct.gpu_driver_kind" = "used only if nothing is registered: an open driver may use dma-buf"
"kernel_message.kind" = {purpose = "words"}
"kernel_message.driver" = {purpose = "words"}
"kernel_message.text" = {purpose = "words"}
+++
## Why it matters
`lsmod` shows nvidia_peermem, yet GPUDirect is off in one library and on in the next: some check for the module, others only
for `/sys/kernel/mm/memory_peers/nv_mem`. The module was built against another RDMA stack than the running one, or loaded
before it.

## What to do
Prefer dma-buf: install the open GPU kernel modules. Otherwise:
1. After the RDMA stack is in place, rebuild the GPU driver's peer memory module for the running kernel.
2. Stop the GPU jobs that use the module and reload it (`modprobe -r nvidia-peermem; modprobe nvidia-peermem`). A reboot is
   not needed.
3. If the driver comes from containers, make sure that the RDMA stack's container starts first.

## Exceptions
With open GPU kernel modules dma-buf may work instead, which is not tested here: the check is then inconclusive, not failed.
The kernel's own RDMA stack has no such registry and is not checked.
*/
select
    h.target,
    d.peermem_module || ' loaded, memory_peers ' || case d.memory_peers when '' then 'empty' else d.memory_peers end as observed,
    'memory_peers/nv_mem' as expected,
    h.nvidia_gpus > 0
        and d.peermem_module <> ''
        and i.taints like '%O%' as applies, -- built outside the kernel's tree: DOCA or OFED
    case
        when d.memory_peers like '%nv_mem%' then false
        when d.memory_peers is not null and d.gpu_driver_kind = 'proprietary' then true
    end as fault,
    m.words as detail
from host_scope as h
left join gpu_direct as d on d.target = h.target
left join kernel_module as i on i.target = h.target and i.name = 'ib_core'
left join (
    select target, 'kernel log: ' || min(driver || ': ' || text) as words
    from kernel_message
    where kind in ('peermem_error', 'symbol_mismatch') and driver like '%peer%'
    group by target
) as m on m.target = h.target
