-- nvidia-smi topo: PIX "at most a single PCIe bridge" (it counts a switch as one: its downstream and its
-- upstream port), PXB "multiple PCIe bridges", PHB "a PCIe Host Bridge", NODE and SYS by NUMA node.
with pairs as (
    select
        g.target,
        g.pci as gpu,
        n.pci as nic,
        gf.root_bus as gpu_root,
        nf.root_bus as nic_root,
        -- -1 is "the firmware does not say": not known.
        nullif(gf.numa_node, -1) as gpu_node,
        nullif(nf.numa_node, -1) as nic_node,
        gf.read_at
    from pcie_endpoint as g
    inner join pcie_endpoint as n on n.target = g.target and g.kind = 'gpu' and n.kind = 'nic'
    inner join pci_function as gf on gf.target = g.target and gf.pci = g.pci
    inner join pci_function as nf on nf.target = n.target and nf.pci = n.pci
),

common as (
    select
        g.target,
        g.pci as gpu,
        n.pci as nic,
        arg_min(g.hop, g.place) as hop,
        min(g.place) as gpu_hops,
        min(n.place) as nic_hops
    from pcie_path as g
    inner join pcie_path as n on n.target = g.target and n.hop = g.hop
    inner join pcie_endpoint as ge on ge.target = g.target and ge.pci = g.pci and ge.kind = 'gpu'
    inner join pcie_endpoint as ne on ne.target = n.target and ne.pci = n.pci and ne.kind = 'nic'
    group by g.target, g.pci, n.pci
),

related as (
    select
        p.target,
        p.read_at,
        p.gpu,
        p.nic,
        coalesce(c.hop, '') as common_hop, -- null: no row means that the paths share nothing
        case
            when c.hop is not null and c.gpu_hops <= 2 and c.nic_hops <= 2 then 0
            when c.hop is not null then 1
            when p.gpu_root = p.nic_root then 2
            when p.gpu_node = p.nic_node then 3
            when p.gpu_node <> p.nic_node then 4
        end as distance
    from pairs as p
    left join common as c on c.target = p.target and c.gpu = p.gpu and c.nic = p.nic
)

select
    *,
    (['PIX', 'PXB', 'PHB', 'NODE', 'SYS'])[distance + 1] as relation,
    case
        when count(distance) over of_gpu = count(*) over of_gpu then distance = min(distance) over of_gpu
    end as is_nearest
from related
window of_gpu as (partition by target, gpu)
