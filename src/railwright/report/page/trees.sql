-- What a host has between its sockets and its ports, hop by hop. Hosts that have the same share it: there are few kinds.
with hops as (
    select
        p.target,
        p.pci,
        list(
            {
                'pci': p.hop,
                'gts': p.speed_gts,
                'width': p.width,
                'gts_max': p.speed_max_gts,
                'width_max': p.width_max,
                'gbps': round(p.gbps, 1),
                'redirects': c.acs_request_redirect or c.acs_completion_redirect
            } order by p.place
        ) as hops
    from pcie_path as p
    left join pci_config as c on c.target = p.target and c.pci = p.hop
    group by p.target, p.pci
),

trees as (
    select
        h.idx as host,
        list(
            {
                'pci': e.pci,
                'kind': e.kind,
                'name': g.name,
                'numa': f.numa_node,
                'narrowest': case when e.is_narrowed then e.narrowest_hop end,
                'gpu': w.gpu,
                'hops': coalesce(o.hops, [])
            } order by f.numa_node, e.root_port, e.kind desc, e.pci
        ) as tree
    from pcie_endpoint as e
    inner join page_host as h on h.target = e.target
    left join pci_function as f on f.target = e.target and f.pci = e.pci
    left join gpu as g on g.target = e.target and g.pci = e.pci
    left join nic_path as w on w.target = e.target and w.pci = e.pci
    left join hops as o on o.target = e.target and o.pci = e.pci
    where e.kind in ('nic', 'gpu')
    group by h.idx
)

select tree, list(host order by host) as hosts
from trees
group by tree
order by min(host)
