-- The InfiniBand ports of a host, as ends of a path.
select p.device, p.port, p.netdev
from port as p
where p.target = $target and p.link_layer = 'InfiniBand'
order by length(p.device), p.device, p.port
