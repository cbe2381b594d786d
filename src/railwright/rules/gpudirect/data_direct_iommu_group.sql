/* +++
id = "data-direct-iommu-group"
aliases = ["N-14"]
title = "GPU and Data Direct in different IOMMU groups"
severity = "high"
subject = "gpu"
needs = ["pci_function.root_bus", "pci_function.vendor", "pci_function.device", "pci_function.iommu_group"]
message = "{subject} is in IOMMU group {observed}; the NIC's Data Direct function is in {expected}"
action = "set"
setting = "pci.acs"
since = "0.2"
sources = ["review N-14", "linux-rdma/rdma-core kernel-boot/rdma_topo (check of iommu_group)",
    "NVIDIA Grace Blackwell CX8 GPUDirect RDMA guide"]
+++
## Why it matters
On a ConnectX-8 with the Data Direct function, the NIC writes to the GPU through a function of its own (15b3:2100) beside
the GPU. The GPU driver allows this only if both are in one IOMMU group. Otherwise GPUDirect is refused unless the driver's
check is turned off, which is not safe.

## What to do
1. Run `rdma_topo write-grub-acs`, which sets ACS as this machine needs it. The kernel must support `pci=config_acs`.
2. Reboot: groups are formed at boot, so `setpci` comes too late.
3. Run `rdma_topo check`.

## Exceptions
Only GPUs with such a function on their root bus are checked. With the IOMMU off, no groups exist, and the driver refuses
that too.
*/
-- Each root port of these platforms has a root bus of its own, with one GPU and one DMA function below it.
with functions as (
    select target, root_bus, iommu_group, vendor = '15b3' and device = '2100' as is_dma
    from pci_function
    where (vendor = '15b3' or vendor is null) and (device = '2100' or device is null)
),

matches as (
    select
        g.target,
        g.pci,
        any_known(f.is_dma and f.root_bus = p.root_bus) as has_one,
        any_known(f.is_dma and f.root_bus = p.root_bus and f.iommu_group = p.iommu_group and p.iommu_group >= 0) as is_shared,
        string_agg(f.iommu_group, ', ' order by f.iommu_group) filter (f.is_dma) as groups
    from gpu as g
    inner join pci_function as p on p.target = g.target and p.pci = g.pci
    inner join functions as f on f.target = p.target and (f.root_bus = p.root_bus or f.root_bus is null)
    group by g.target, g.pci
)

select
    g.target,
    g.pci,
    p.iommu_group as observed,
    m.groups as expected,
    case when m.pci is not null then m.has_one when p.root_bus is not null then false end as applies,
    not m.is_shared as fault
from gpu as g
left join pci_function as p on p.target = g.target and p.pci = g.pci
left join matches as m on m.target = g.target and m.pci = g.pci
