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
    "NVIDIA/nccl src/transport/net_ib/gdr.cc",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html: dma-buf is recommended, and needs open modules and Linux 5.12",
    "judgement: with both, and a vendor's RDMA stack not older than 23 if there is one, dma-buf serves; older ones have to be tried"]

[uses]
"host_scope.virtualization" = "leaves out hosts that hand their GPUs to guests"
"gpu_direct.memory_peers" = "says the same as the module where the RDMA stack keeps a registry"
"gpu_direct.gpu_driver_kind" = "asked only where no module is loaded"
"host.kernel" = "asked only where no module is loaded"
"kernel_module.version" = "asked only where no module is loaded; the kernel's own RDMA stack has none"
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
With open modules, Linux 5.12 or newer and an RDMA stack of 2023 or newer, dma-buf is taken to serve: only registering memory would prove
it, which this collection does not do. With an older kernel or stack it is unknown, as some have it added. Whether a module that is
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
        when d.peermem_module = '' and d.gpu_driver_kind = 'open' and v.has_dma_buf and s.has_dma_buf then false
    end as fault,
    m.words as detail,
    case when d.peermem_module = '' and d.gpu_driver_kind = 'open' and v.has_dma_buf is not null and s.has_dma_buf is not null then 'dma_buf_untried' end as reason
from host_scope as h
left join host_kind as k on k.target = h.target
left join gpu_direct as d on d.target = h.target
left join (
    select target, try_cast(regexp_extract(kernel, '^([0-9]+)[.]', 1) as integer) * 100 + try_cast(regexp_extract(kernel, '^[0-9]+[.]([0-9]+)', 1) as integer) >= 512 as has_dma_buf
    from host
) as v on v.target = h.target
left join (
    select target, case when version = '' then true else try_cast(regexp_extract(version, '^([0-9]+)[.]', 1) as integer) >= 23 end as has_dma_buf
    from kernel_module
    where name = 'mlx5_core'
) as s on s.target = h.target
left join (
    select target, 'the kernel log says: ' || min(driver || ' disagrees about ' || text) as words
    from kernel_message
    where kind = 'symbol_mismatch' and driver like '%peer%'
    group by target
) as m on m.target = h.target
