-- Classes of hosts with their members, and what most of these are.
select
    c.class,
    mode(c.reason),
    list(c.target order by c.target),
    mode(p.cards),
    mode(p.rate),
    mode(n.nodes)
from host_class as c
left join (
    select target, count(distinct card) as cards, mode(rate_gbps) as rate
    from port
    where role = 'compute'
    group by target
) as p using (target)
left join (
    select target, count(*) as nodes
    from numa_node
    where cpus <> ''
    group by target
) as n using (target)
where c.class is not null
group by c.class
order by count(*) desc, c.class
