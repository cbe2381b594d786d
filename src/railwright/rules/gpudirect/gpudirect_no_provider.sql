/* +++
id = "gpudirect-no-provider"
aliases = ["GDR-07"]
title = "GPUDirect RDMA not available"
severity = "high"
subject = "host"
needs = ["host_scope.nvidia_gpus", "host_kind.nic_functions", "gpu_direct.gpu_driver_version", "gpu_direct.peermem_module"]
message = "{subject} has {observed}; GPU traffic goes through host memory"
action = "set"
setting = "host.peermem"
cost = "33 instead of 93 GB/s (incident I-001)"
since = "0.2"
sources = ["review GDR-07", "incident I-001", "incident I-018", "incident I-100",
    "NVIDIA/nccl src/transport/net_ib/gdr.cc",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html: dma-buf is recommended, and needs open modules and Linux 5.12",
    "judgement: with both, and a vendor's RDMA stack not older than 23 if there is one, dma-buf serves; older ones have to be tried"]

[uses]
"host_scope.virtualization" = "leaves out hosts that pass their GPUs through to guests"
"gpu_direct.memory_peers" = "says the same as the module if the RDMA stack has a registry"
"gpu_direct.gpu_driver_kind" = "used only if no module is loaded"
"host.kernel" = "used only if no module is loaded"
"kernel_module.version" = "used only if no module is loaded; the kernel's own RDMA stack has none"
"kernel_message.kind" = {purpose = "words"}
"kernel_message.driver" = {purpose = "words"}
"kernel_message.text" = {purpose = "words"}
+++
## Why it matters
RDMA straight to and from GPU memory needs one of two things: dma-buf (open GPU kernel modules and an RDMA stack that
supports it), or the driver's peer memory module. With neither, every byte goes through host memory. The only sign in NCCL
is that the word GDRDMA is missing from its log.

## What to do
NVIDIA recommends dma-buf: install the open GPU kernel modules. Otherwise run `modprobe nvidia-peermem`, and have it loaded
at boot. If the kernel log says that it disagrees about the version of a symbol, the module was built against another RDMA
stack: rebuild it after the stack, for the running kernel (reload the module; no reboot).

## Exceptions
With open modules, Linux 5.12 or newer and an RDMA stack of 2023 or newer, dma-buf is assumed to work: only registering
memory would prove it, which this collection does not do. With an older kernel or stack the check is inconclusive, because
some have it backported. Whether a loaded module has registered is checked by `peermem-not-registered`.
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
    select target, 'kernel log: ' || min(driver || ' disagrees about ' || text) as words
    from kernel_message
    where kind = 'symbol_mismatch' and driver like '%peer%'
    group by target
) as m on m.target = h.target
