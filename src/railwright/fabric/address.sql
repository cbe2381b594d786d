-- The address of a host's port: IPv4 before IPv6, the first of several; of a bond's member the bond's.
select a.address
from address as a
left join netdev as n on n.target = a.target and n.name = $port
where
    a.target = $target
    and a.scope = 'global'
    and (a.netdev = $port or a.netdev = nullif(n.master, ''))
order by a.family, a.address
limit 1
