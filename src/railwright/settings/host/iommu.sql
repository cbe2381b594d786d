with members as (
    select target, pci from port_scope where role = 'compute' or role is null
    union
    select target, pci from gpu
),

types as (
    select
        m.target,
        any_known(f.iommu_type in ('DMA', 'DMA-FQ')) as is_translated,
        case
            when count(f.iommu_type) = count(*)
                then array_to_string(list_sort(list(distinct case f.iommu_type when '' then 'none' else f.iommu_type end)), ',')
        end as words
    from members as m
    left join pci_function as f on f.target = m.target and f.pci = m.pci
    group by m.target
),

booted as (
    select r.target, string_agg(k.name || '=' || k.value, ' ' order by k.name, k.place) as words
    from probe_result as r
    left join kernel_argument as k
        on k.target = r.target
        and (k.name in ('iommu', 'iommu.passthrough') or (k.name in ('intel_iommu', 'amd_iommu') and k.value = 'off'))
    where r.probe = 'cmdline' and r.status = 'ok'
    group by r.target
),

compute as (
    select target, any_known(role = 'compute') as has_compute from port_scope group by target
)

select
    h.target,
    t.words as now,
    case when not t.is_translated then t.words else 'identity' end as wanted,
    case
        when h.virtualization = 'guest' then 'a guest: its hypervisor decides'
        when h.virtualization = 'hypervisor' then 'it hands devices to guests: the IOMMU keeps them apart'
        when h.architecture <> 'x86_64' then 'follow the platform guide'
        when b.words <> '' then 'booted with ' || b.words || ': change it there'
        when boot_tools(o.operating_system) = '' then 'its boot loader is not known here: add iommu=pt by hand'
        when h.virtualization is not null and h.architecture is not null and b.target is not null and c.has_compute
            and boot_tools(o.operating_system) <> '' then ''
    end as refused,
    boot_tools(o.operating_system) as way
from host_scope as h
left join compute as c on c.target = h.target
left join types as t on t.target = h.target
left join booted as b on b.target = h.target
left join host as o on o.target = h.target
where (h.gpus > 0 or h.gpus is null) and c.has_compute is not false
