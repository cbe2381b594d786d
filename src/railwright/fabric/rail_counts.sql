-- Hosts and their compute ports; of how many the leaf or the rail is not known, and why.
with heard as (
    -- Of a bond each member has a neighbor of its own.
    select
        e.target,
        e.device,
        e.device_port,
        bool_or(a.peer is null) as is_unread,
        bool_or(a.peer = '') as is_alone
    from own_end as e
    inner join adjacency as a using (target, port)
    where e.kind = 'host'
    group by all
)

select
    count(distinct p.target) as hosts,
    count(*) as ports,
    count(*) filter (h.is_unread) as unread,
    count(*) filter (h.is_alone) as alone,
    count(*) filter (p.link_layer = 'InfiniBand') as infiniband,
    count(*) filter (h.target is null and p.link_layer is distinct from 'InfiniBand') as bare,
    count(*) filter (p.rail is null) as without_rail
from site_port as p
left join heard as h on h.target = p.target and h.device = p.device and h.device_port = p.port
where p.role = 'compute'
