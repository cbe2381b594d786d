-- What stays the same when numbers move up: RDMA devices, network devices and GPUs by their PCI address. Two network devices of one
-- PCI function keep their names.
create temp table named as
with said as (
    select 'before' as side, target, 'netdev' as kind, name, pci
    from before.netdev semi join differing_target using (target)
    where kind = 'physical' and pci <> ''
    union all
    select 'now' as side, target, 'netdev' as kind, name, pci
    from now.netdev semi join differing_target using (target)
    where kind = 'physical' and pci <> ''
    union all
    select 'before' as side, target, 'device' as kind, device, pci
    from before.rdma_device semi join differing_target using (target)
    where pci <> ''
    union all
    select 'now' as side, target, 'device' as kind, device, pci
    from now.rdma_device semi join differing_target using (target)
    where pci <> ''
    union all
    select 'before' as side, target, 'gpu' as kind, 'GPU' || (row_number() over (partition by target order by pci) - 1), pci
    from before.gpu_smi semi join differing_target using (target)
    union all
    select 'now' as side, target, 'gpu' as kind, 'GPU' || (row_number() over (partition by target order by pci) - 1), pci
    from now.gpu_smi semi join differing_target using (target)
    union all
    select distinct 'before' as side, t.target, 'gpu' as kind, t.a, d.pci
    from before.gpu_topology as t
    semi join differing_target as o on o.target = t.target
    inner join before.rdma_device as d on d.target = t.target and d.device = t.a_device and d.pci <> ''
    union all
    select distinct 'now' as side, t.target, 'gpu' as kind, t.a, d.pci
    from now.gpu_topology as t
    semi join differing_target as o on o.target = t.target
    inner join now.rdma_device as d on d.target = t.target and d.device = t.a_device and d.pci <> ''
),

shared as (
    select target, kind, pci
    from (select side, target, kind, pci from said group by all having count(*) > 1) as twice
    group by all
)

select s.side, s.target, s.kind, s.name, s.pci, case when h.pci is null then s.pci else s.pci || ' ' || s.name end as identity
from said as s
left join shared as h on h.target = s.target and h.kind = s.kind and h.pci = s.pci
-- One name is one thing: what a machine tells twice counts once.
qualify row_number() over (partition by s.side, s.target, s.kind, s.name order by s.pci) = 1
