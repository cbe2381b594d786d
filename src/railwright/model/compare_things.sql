-- What the things are that something changed at: their names, kind and place on the PCI bus, as they are now or were before.
create temp table thing as
with wanted as (
    select distinct target, thing from change
),

pci as (
    select target, pci, any_value(parent) as parent, any_value(class) as class, any_value(vendor) as vendor, any_value(physical_function) as above
    from (
        select target, pci, parent, class, vendor, physical_function from now.pci_function semi join differing_target using (target)
        union all
        select target, pci, parent, class, vendor, physical_function from before.pci_function semi join differing_target using (target)
    )
    group by all
),

names as (
    select
        target,
        identity as thing,
        any_value(pci) as pci,
        coalesce(any_value(name) filter (kind = 'device' and side = 'now'), any_value(name) filter (kind = 'device')) as device,
        coalesce(any_value(name) filter (kind = 'netdev' and side = 'now'), any_value(name) filter (kind = 'netdev')) as netdev
    from named
    where kind <> 'gpu'
    group by all
)

select
    w.target,
    w.thing,
    coalesce(n.pci, p.pci, '') as pci,
    coalesce(n.device, '') as device,
    coalesce(n.netdev, '') as netdev,
    coalesce(p.class, '') as class,
    coalesce(p.vendor, '') as vendor,
    coalesce(p.parent, '') as parent,
    coalesce(p.above, '') as physical_function,
    coalesce(m.kind, 'host') as machine
from wanted as w
left join names as n on n.target = w.target and n.thing = w.thing
left join pci as p on p.target = w.target and p.pci = coalesce(n.pci, w.thing)
left join now.target as m on m.target = w.target
