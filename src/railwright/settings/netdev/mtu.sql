-- Of a bond the bond itself has it: its members follow.
select
    p.target,
    p.netdev as name,
    n.mtu as now,
    s.netdev_mtu as wanted,
    case when p.role = 'compute' and n.master is not null then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_scope as p
cross join site as s
left join netdev as n on n.target = p.target and n.name = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role in ('compute', 'unused') or p.role is null)
