-- How many host ports of a rail each leaf has, with its own rail; several planes of a rail are rows of their own.
-- Of a bond each member is a port of the leaf.
select a.peer, p.rail, p.plane, count(*)::bigint, s.rail, s.plane
from own_end as e
inner join adjacency as a using (target, port)
inner join site_port as p on p.target = e.target and p.device = e.device and p.port = e.device_port
left join switch_place as s on s.target = a.peer
where e.kind = 'host' and p.role = 'compute' and p.rail is not null and a.peer_kind in ('switch', 'stranger')
group by all
order by all
