-- Of a bond the bond itself has it: its members follow.
select
    p.target,
    p.netdev as name,
    n.mtu as now,
    s.netdev_mtu as wanted,
    case
        when s.netdev_mtu > n.mtu and e.other_mtu < s.netdev_mtu and (s.switch_mtu >= s.netdev_mtu) is not true
            then 'its switch port takes ' || e.other_mtu || ': raise that first'
        when p.role = 'compute' and n.master is not null then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_scope as p
cross join site as s
left join netdev as n on n.target = p.target and n.name = p.netdev
left join end_pair as e on e.target = p.target and e.port = p.netdev and e.kind = 'host'
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role in ('compute', 'unused') or p.role is null)
