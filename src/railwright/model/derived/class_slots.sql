-- Slots that most members of a class have, by the number of the root bus: a host that did not tell how its firmware names root
-- bridges is compared by that.
select c.key, c.gpu, c.members, list(c.slot) as slots
from (
    select h.key, h.gpu, s.slot_by_bus as slot, any_value(n.members) as members
    from class_host as h
    inner join (select key, gpu, count(*) as members from class_host where key <> '' and gpu <> '' group by all) as n using (key, gpu)
    inner join card as s on s.target = h.target and s.kind in ('nic', 'gpu')
    group by h.key, h.gpu, s.slot_by_bus
    having 2 * count(*) > any_value(n.members)
) as c
group by all
order by c.members desc, c.key, c.gpu
