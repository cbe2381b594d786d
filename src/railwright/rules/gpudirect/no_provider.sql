/* +++
id = "GDR-07"
title = "Nothing lets the NIC reach GPU memory"
severity = "high"
subject = "host"
needs = ["host_scope.nvidia_gpus", "host_kind.nic_functions", "gpu_direct.gpu_driver_version", "gpu_direct.peermem_module"]
message = "{subject} has {observed}: GPU traffic goes through host memory"
cost = "33 instead of 93 GB/s (incident I-001)"
since = "0.2"
sources = ["review GDR-07", "incident I-001", "incident I-018", "incident I-100",
    "NVIDIA/nccl src/transport/net_ib/gdr.cc", "NVIDIA GPU Operator, GPUDirect RDMA (dma-buf recommended)"]

[uses]
"host_scope.virtualization" = "leaves out hosts that hand their GPUs to guests"
"gpu_direct.memory_peers" = "says the same as the module where the RDMA stack keeps a registry"
"gpu_direct.gpu_driver_kind" = "asked only where no module is loaded"
"kernel_message.kind" = {purpose = "words"}
"kernel_message.driver" = {purpose = "words"}
"kernel_message.text" = {purpose = "words"}
+++
## Why it matters
RDMA straight to and from GPU memory takes one of two things: dma-buf (open GPU kernel modules and an RDMA stack that
takes it), or the peer memory module of the driver. With neither, each byte goes through host memory. NCCL only drops the
word GDRDMA from its log.

## What to do
dma-buf is NVIDIA's recommendation: install the open GPU kernel modules. Else `modprobe nvidia-peermem`, and have it
loaded at boot. Where the kernel log says that it disagrees about the version of a symbol, the module was built against
another RDMA stack: build it again after the stack, for the running kernel (a reload of the module, no reboot).

## When it is wrong
With open modules and no peer memory module, dma-buf may well serve: whether the RDMA stack takes it can only be found by
registering memory, which this collection does not do, so that this is unknown and no failure. Whether a module that is
loaded has registered is GDR-08.
*/
select
    h.target,
    'no peer memory module and a ' || d.gpu_driver_kind || ' GPU driver, ' || d.gpu_driver_version as observed,
    'dma-buf or nvidia-peermem' as expected,
    h.nvidia_gpus > 0
        and k.nic_functions > 0
        and coalesce(h.virtualization <> 'hypervisor', true) -- null: a loaded GPU driver says enough
        and d.gpu_driver_version <> '' as applies,
    case
        when d.peermem_module <> '' or d.memory_peers like '%nv_mem%' then false
        when d.peermem_module = '' and d.gpu_driver_kind = 'proprietary' then true
    end as fault,
    m.words as detail
from host_scope as h
left join host_kind as k on k.target = h.target
left join gpu_direct as d on d.target = h.target
left join (
    select target, 'the kernel log says: ' || min(driver || ' disagrees about ' || text) as words
    from kernel_message
    where kind = 'symbol_mismatch' and driver like '%peer%'
    group by target
) as m on m.target = h.target
