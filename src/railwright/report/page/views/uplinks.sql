-- Links that go up or across: how many there are to each switch, how many are up, whether that is known of all.
select a.idx, b.idx, count(*), count(*) filter (e.is_up), bool_and(e.is_up is not null)
from link_end as e
inner join page_switch as a on a.target = e.target
inner join page_switch as b on b.target = e.peer
where e.kind = 'switch' and e.facing in ('up', 'side')
group by a.idx, b.idx
order by a.idx, b.idx
