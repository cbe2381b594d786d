-- Ports, in the order of the page: by host, then by name.
select
    p.host,
    coalesce(p.device, p.netdev, p.peer),
    p.port,
    p.pci,
    p.netdev,
    p.rail,
    s.idx,
    p.peer_port,
    l.level
from page_port as p
inner join page_level_of as l on l.idx = p.idx
left join page_switch as s on s.target = p.peer
order by p.idx
