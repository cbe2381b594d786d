-- Compute ports with a leaf that was read: between these a packet can be followed.
select p.target, p.device || case when p.port > 1 then '/' || p.port else '' end, p.rail, p.peer, s.pod, l.level
from page_port as p
inner join page_switch as s on s.target = p.peer and s.status <> 'not asked'
inner join page_level_of as l on l.idx = p.idx
where p.role = 'compute' and p.device is not null
order by p.idx
