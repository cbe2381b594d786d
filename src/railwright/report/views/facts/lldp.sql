select
    n.target,
    case when r.target is null then coalesce(l.heard::varchar, 'none') end as neighbors,
    n.operstate
from rdma_netdev as n
left join (
    select target, netdev, count(*) as heard
    from lldp_neighbor
    group by all
) as l on l.target = n.target and l.netdev = n.name
left join silent as r on r.target = n.target and r.probe = 'lldpctl'
where n.arp_type is distinct from 32 -- IP over InfiniBand, which has no LLDP
