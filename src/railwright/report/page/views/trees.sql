-- What a host has between its sockets and its ports, hop by hop. Hosts that have the same share it: there are few kinds, told
-- apart by a hash, and only one host of each kind is laid out.
create or replace temp table page_hop as
select
    p.target,
    p.pci,
    p.place,
    p.hop,
    p.speed_gts,
    p.width,
    p.speed_max_gts,
    p.width_max,
    round(p.gbps, 1) as gbps,
    c.acs_request_redirect or c.acs_completion_redirect as redirects
from pcie_path as p
left join pci_config as c on c.target = p.target and c.pci = p.hop;

create or replace temp table page_endpoint as
select
    h.idx as host,
    e.target,
    e.pci,
    e.kind,
    e.root_port,
    g.name,
    f.numa_node as numa,
    case when e.is_narrowed then e.narrowest_hop end as narrowest,
    w.gpu
from pcie_endpoint as e
inner join page_host as h on h.target = e.target
left join pci_function as f on f.target = e.target and f.pci = e.pci
left join gpu as g on g.target = e.target and g.pci = e.pci
left join nic_path as w on w.target = e.target and w.pci = e.pci
where e.kind in ('nic', 'gpu');

create or replace temp table page_tree as
with hops as (
    select
        target,
        pci,
        bit_xor(hash(place, hop, speed_gts, width, speed_max_gts, width_max, gbps, redirects)) as sign
    from page_hop
    group by target, pci
)

select e.host, any_value(e.target) as target, bit_xor(hash(e.pci, e.kind, e.root_port, e.name, e.numa, e.narrowest, e.gpu, o.sign)) as sign
from page_endpoint as e
left join hops as o on o.target = e.target and o.pci = e.pci
group by e.host;

with firsts as (
    select sign, arg_min(target, host) as target, list(host order by host) as hosts
    from page_tree
    group by sign
),

hops as (
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
                'gbps': p.gbps,
                'redirects': p.redirects
            } order by p.place
        ) as hops
    from page_hop as p
    semi join firsts as f on f.target = p.target
    group by p.target, p.pci
)

select
    list(
        {
            'pci': e.pci,
            'kind': e.kind,
            'name': e.name,
            'numa': e.numa,
            'narrowest': e.narrowest,
            'gpu': e.gpu,
            'hops': coalesce(o.hops, [])
        } order by e.numa, e.root_port, e.kind desc, e.pci
    ) as tree,
    any_value(f.hosts) as hosts
from firsts as f
inner join page_endpoint as e on e.target = f.target
left join hops as o on o.target = e.target and o.pci = e.pci
group by f.sign
order by min(e.host)
