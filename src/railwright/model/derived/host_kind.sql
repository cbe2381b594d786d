-- Two hosts are of one kind if the same cards are in them; a host of which one list is missing is of none.
with gpu_types as (
    select
        target,
        sum(n)::integer as n,
        coalesce(sum(n) filter (vendor = '10de'), 0)::integer as nvidia, -- null: none of them
        string_agg(n || 'x ' || vendor || ':' || device_id, ', ' order by vendor, device_id) as text
    from (select target, vendor, device_id, count(*) as n from gpu group by all)
    group by target
),

nics as (
    select d.target, d.psid, count(*) as n
    from rdma_device as d
    inner join card_function as f on f.target = d.target and f.pci = d.pci and f.kind = 'nic'
    where d.psid <> '' and not (d.device like 'smi%' and f.vendor = '15b3') -- see port_sign.sql
    group by all
),

nic_types as (
    select target, sum(n)::integer as n, string_agg(n || 'x ' || psid, ', ' order by n desc, psid) as text
    from nics
    group by target
),

-- Which functions have RDMA devices is not known where one device does not say its function.
placeless as (
    select distinct target from rdma_device where pci is null
),

-- `absent` is an answer too: there is no RDMA device on that host.
answered as (
    select
        target,
        bool_or(probe = 'pci' and status = 'ok') as pci,
        bool_or(probe = 'infiniband' and status in ('ok', 'absent')) as rdma,
        max(read_at) as read_at
    from probe_result
    where probe in ('pci', 'infiniband')
    group by target
)

select
    a.target,
    a.read_at,
    case when a.pci then coalesce(g.n, 0) end as gpus, -- null: read, and no row: none
    case when a.pci then coalesce(g.nvidia, 0) end as nvidia_gpus, -- null: read, and no row: none
    case when a.pci and a.rdma and p.target is null then coalesce(n.n, 0) end as nic_functions, -- null: read, and no row: none
    case
        when a.pci and a.rdma and p.target is null
            then concat_ws(', ', coalesce(g.text, 'no GPU'), coalesce(n.text, 'no RDMA card'))
    end as kind
from answered as a
left join gpu_types as g on g.target = a.target
left join nic_types as n on n.target = a.target
left join placeless as p on p.target = a.target
