-- From a GPU and a NIC below one switch up to the port that both share, without it.
with pairs as (
    select g.target, g.gpu, g.nic, g.common_hop, g.distance
    from gpu_nic as g
    left join nic_scope as n on n.target = g.target and n.pci = g.nic
    where (g.distance <= 1 or g.distance is null) and coalesce(n.role = 'compute', true) -- null: next to a GPU it counts as compute
),

ends as (
    select target, nic as pci, common_hop from pairs
    union
    select target, gpu as pci, common_hop from pairs
),

ports as (
    select distinct e.target, h.hop
    from ends as e
    inner join pcie_path as h on h.target = e.target and h.pci = e.pci and h.place > 0
    inner join pcie_path as m on m.target = e.target and m.pci = e.pci and m.hop = e.common_hop and h.place < m.place
),

redirects as (
    select
        p.target,
        any_known(case c.acs when 'absent' then false when 'present' then c.acs_request_redirect or c.acs_completion_redirect end) as is_on,
        all_known(c.acs = 'absent' or (c.acs_request_redirect is not null and c.acs_completion_redirect is not null)) as is_read,
        string_agg(p.hop, ',' order by p.hop) filter (c.acs_request_redirect or c.acs_completion_redirect) as hops
    from ports as p
    left join pci_config as c on c.target = p.target and c.pci = p.hop
    group by p.target
),

meetings as (
    select
        p.target,
        all_known(p.distance is not null) as is_placed,
        any_known(case when p.common_hop <> '' then f.vendor = '15b3' end) as is_inside_nic
    from pairs as p
    left join pci_function as f on f.target = p.target and f.pci = p.common_hop
    group by p.target
),

booted as (
    select r.target, count(k.name) > 0 as has_option
    from probe_result as r
    left join kernel_argument as k on k.target = r.target and k.name = 'pci' and k.value like '%acs%'
    where r.probe = 'cmdline' and r.status = 'ok'
    group by r.target
)

select
    h.target,
    case when m.is_placed and r.is_read then case when r.is_on then r.hops when not r.is_on then 'none' end end as now,
    'none' as wanted,
    case
        when h.virtualization = 'guest' then 'a guest cannot write it'
        when h.virtualization = 'hypervisor' then 'it hands devices to guests: ACS keeps them apart'
        when h.architecture <> 'x86_64' or m.is_inside_nic then 'the platform has its own settings: rdma_topo write-grub-acs'
        when b.has_option then 'the command line has an ACS option already: change it there'
        when boot_tools(o.operating_system) <> 'debian' then 'only GRUB of Debian and Ubuntu is known: add pci=disable_acs_redir by hand'
        when h.virtualization is not null and h.architecture is not null and not m.is_inside_nic and not b.has_option
            and o.operating_system is not null then ''
    end as refused,
    boot_tools(o.operating_system) as way
from host_scope as h
inner join meetings as m on m.target = h.target
left join redirects as r on r.target = h.target
left join booted as b on b.target = h.target
left join host as o on o.target = h.target
