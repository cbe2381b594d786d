select
    t.target,
    said(g.peermem_module) as peermem,
    said(g.gpu_driver_kind) as driver,
    case when c.target is null then coalesce(a.options, '-') end as iommu,
    w.governors
from (
    select target
    from machine
    anti join (
        from silent
        where probe = 'modules' and status in ('not asked', 'not reached')
    ) using (target)
) as t
left join gpu_direct as g using (target)
left join (from silent where probe = 'cmdline') as c using (target)
left join (
    select target, string_agg(name || '=' || value, ' ' order by name, place) as options
    from kernel_argument
    where name in ('iommu', 'intel_iommu', 'amd_iommu')
    group by target
) as a using (target)
left join (
    select target, string_agg(distinct governor, ',' order by governor) as governors
    from cpu_governor
    group by target
) as w using (target)
