-- Hosts by their GPUs and their compute ports that are up; what is not known of one leaves that host out. Ports are counted by
-- cards: the halves of a Socket Direct card both show its port, and the ports of a card share its slot.
-- Tables at hand: those of ceilings.sql.
select k.gpus, g.name, h.ports, p.rate_gbps, round(s.least, 1), c.vendor, count(*)::bigint
from host_kind as k
inner join host_ceiling as h on h.target = k.target and h.write_gbps > 0
inner join (
    select target, any_value(rate_gbps) as rate_gbps
    from port_ceiling
    where role = 'compute' and state = 'ACTIVE'
    group by target
    having count(rate_gbps) = count(*) and count(distinct rate_gbps) = 1
) as p on p.target = k.target
inner join (
    select target, min(write_gbps / ports) as least
    from card_ceiling
    where ports > 0
    group by target
) as s on s.target = k.target
inner join (
    select target, any_value(name) as name
    from gpu
    group by target
    having count(distinct name) = 1 and count(name) = count(*)
) as g on g.target = k.target
inner join cpu as c on c.target = k.target and c.vendor is not null
where k.gpus > 0
group by all
