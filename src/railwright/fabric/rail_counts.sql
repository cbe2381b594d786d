-- Hosts and their ports that belong to a rail; of how many it was not read who is at the other end, and where nobody is.
select
    count(distinct e.target) as hosts,
    count(*) as ports,
    count(*) filter (a.peer is null) as unread,
    count(*) filter (a.peer = '') as alone
from own_end as e
inner join adjacency as a using (target, port)
where e.kind = 'host' and e.rail is not null
