select n.target, n.mtu::varchar as mtu, n.operstate
from rdma_netdev as n
union all
-- Without one: InfiniBand without IP, or moved into a pod's network namespace.
select
    d.target,
    case when r.target is null then 'no netdev here' end as mtu,
    case when r.target is null then '-' end as operstate
from nic as d
anti join netdev as n on n.target = d.target and n.pci = d.pci
left join silent as r on r.target = d.target and r.probe = 'netdev'
