with cards as (select target, any_known(kind = 'nic') as has_one from pcie_endpoint group by target),

booted as (
    select r.target, count(k.name) > 0 as has_option
    from probe_result as r
    left join kernel_argument as k on k.target = r.target and k.name = 'ib_core.netns_mode'
    where r.probe = 'cmdline' and r.status = 'ok'
    group by r.target
)

select
    h.target,
    r.netns_mode as now,
    s.rdma_netns_mode as wanted,
    case
        when b.has_option then 'booted with ib_core.netns_mode: change it on the command line'
        when boot_tools(o.operating_system) = '' then 'how its initramfs is built is not known here: set options ib_core netns_mode by hand'
        when c.has_one and not b.has_option and o.operating_system is not null then ''
    end as refused,
    boot_tools(o.operating_system) as way
from host_scope as h
cross join site as s
inner join cards as c on c.target = h.target and c.has_one is not false
left join rdma_system as r on r.target = h.target
left join booted as b on b.target = h.target
left join host as o on o.target = h.target
