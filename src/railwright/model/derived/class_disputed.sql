-- What some of a class have and not most, by how the operator names them.
with part as (
    select h.class, h.pattern, h.members, c.slot || ' ' || c.part as part
    from found_class as h
    inner join card as c on c.target = h.target and c.kind in ('nic', 'gpu')
    where h.class in (select class from found_class group by class having count(distinct pattern) > 1)
),

disputed as (
    select class, part
    from part
    group by all
    having 2 * count(*) <= any_value(members)
)

select n.class, n.pattern, n.hosts, d.part, count(p.part)
from (select class, pattern, count(*) as hosts from found_class group by all) as n
inner join disputed as d on d.class = n.class
left join part as p on p.class = n.class and p.pattern = n.pattern and p.part = d.part
group by all
