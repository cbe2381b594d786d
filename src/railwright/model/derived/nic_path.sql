-- What the data of a NIC meets on PCIe. A GPU that hangs on the same switch is reached without the switch's own link to the
-- root complex: in a ConnectX-8, whose switch is inside the card, that link is half of what NIC and GPU have between them.
with meeting as (
    select g.target, g.nic, g.gpu, g.distance, h.place
    from gpu_nic as g
    inner join pcie_path as h on h.target = g.target and h.pci = g.nic and h.hop = g.common_hop
    where g.common_hop <> ''
),

ways as (
    select
        m.target,
        m.nic,
        m.gpu,
        m.distance,
        case when count(h.gbps) = count(*) then min(h.gbps) end as gbps,
        case when count(h.gbps) = count(*) then arg_min(h.hop, row(h.gbps, -h.place)) end as hop
    from meeting as m
    inner join pcie_path as h on h.target = m.target and h.pci = m.nic and h.place < m.place
    group by m.target, m.nic, m.gpu, m.distance
),

nearest as (
    select target, nic, arg_min(gpu, row(distance, gpu)) as gpu from ways group by target, nic
)

select
    e.target,
    e.read_at,
    e.pci,
    coalesce(w.gpu, '') as gpu, -- null: no row means that none hangs on the same switch
    case when w.gpu is null then e.narrowest_gbps else w.gbps end as gpu_gbps,
    case when w.gpu is null then e.narrowest_hop else w.hop end as gpu_hop,
    e.narrowest_gbps as memory_gbps,
    e.narrowest_hop as memory_hop
from pcie_endpoint as e
left join nearest as n on n.target = e.target and n.nic = e.pci
left join ways as w on w.target = n.target and w.nic = n.nic and w.gpu = n.gpu
where e.kind = 'nic'
