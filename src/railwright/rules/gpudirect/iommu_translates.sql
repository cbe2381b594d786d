/* +++
id = "iommu-translates"
aliases = ["GDR-06"]
title = "IOMMU translation on for GPUs or NICs"
severity = "high"
subject = "host"
needs = ["host_scope.virtualization", "host_scope.architecture", "host_scope.gpus", "port_scope.role", "pci_function.iommu_type"]
message = "{subject} translates DMA: {observed}"
action = "set"
setting = "host.iommu"
cost = "98 of 337 GB/s in one 16-GPU job (incident I-010)"
since = "0.2"
sources = ["review GDR-06", "incident I-010", "Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups (type)",
    "judgement: what to do on each architecture"]

[uses]
"port_scope.inferred" = {purpose = "severity"}
"port_scope.pci" = "the compute NICs"
"probe_result.status" = "tells a host without RDMA from one that was not read"
"kernel_argument.value" = {purpose = "words"}
+++
## Why it matters
In the modes DMA and DMA-FQ every address of a transfer goes through the IOMMU tables, and traffic between GPU and NIC goes
up to the root complex to be translated. On a bare-metal host this brings nothing that training needs, and can cost most of
the bandwidth.

## What to do
1. Boot with `iommu=pt` (takes a reboot; set it in the boot loader configuration, and in the image if hosts boot over the
   network).
2. Check `acs-redirect` again: with the IOMMU on, the kernel keeps ACS on, in this mode too.

Do not use `iommu=off` as a default: hosts with more than 255 CPUs need the IOMMU for interrupts, and hosts with guests need
it too. On Arm the option is `iommu.passthrough=1`; use it only if the platform guide asks for it.

## Exceptions
If the site isolates devices on purpose, waive it. Hosts that pass devices through to guests are not checked. A host that
uses its GPUs itself does not count as one of them, even if a program has a NIC (vfio-pci, e.g. for DPDK). Arm is not
checked: follow the platform guide.
*/
with members as (
    select target, pci, inferred, 'NIC' as what from port_scope where role = 'compute'
    union all
    select target, pci, false as inferred, 'GPU' as what from gpu
),

types as (
    select
        m.target,
        bool_or(m.inferred) as inferred, -- null: never, and only for the severity
        any_known(f.iommu_type in ('DMA', 'DMA-FQ')) as is_translated,
        string_agg(distinct f.iommu_type, ', ' order by f.iommu_type) filter (f.iommu_type in ('DMA', 'DMA-FQ')) as types,
        count(*) filter (f.iommu_type in ('DMA', 'DMA-FQ') and m.what = 'NIC') as nics,
        count(*) filter (f.iommu_type in ('DMA', 'DMA-FQ') and m.what = 'GPU') as gpus
    from members as m
    left join pci_function as f on f.target = m.target and f.pci = m.pci
    group by m.target
),

-- Of a host without any RDMA port it takes the list to say so.
compute as (
    select target, any_known(role = 'compute') as has_compute from port_scope group by target
)

select
    h.target,
    t.types || ' for ' || t.nics || ' NICs and ' || t.gpus || ' GPUs' as observed,
    'identity, or no IOMMU' as expected,
    h.virtualization = 'bare metal'
        and h.architecture = 'x86_64'
        and h.gpus > 0
        and case when c.target is not null then c.has_compute when r.status is not null then false end as applies,
    t.is_translated as fault,
    'booted with ' || a.words as detail,
    t.inferred
from host_scope as h
left join types as t on t.target = h.target
left join compute as c on c.target = h.target
left join probe_result as r on r.target = h.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
left join (
    select target, string_agg(name || '=' || value, ' ' order by name, place) as words
    from kernel_argument
    where name in ('iommu', 'intel_iommu', 'amd_iommu')
    group by target
) as a on a.target = h.target
