-- How many host ports of a rail each leaf has, with its own rail; several planes of a rail are rows of their own.
select a.peer, e.rail, e.plane, count(*)::bigint, s.rail, s.plane
from own_end as e
inner join adjacency as a using (target, port)
left join switch_place as s on s.target = a.peer
where e.kind = 'host' and e.rail is not null and a.peer_kind in ('switch', 'stranger')
group by all
order by all
