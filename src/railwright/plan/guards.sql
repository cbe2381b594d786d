-- What no option overrides: changes that could cut the way to a machine. Tables at hand: picked (the changes), setting_guard (what
-- each setting stops), second_way (machines that the site declares another way to, and the interfaces it gives up).

-- Where packets to the machine come in, and what these interfaces lie on.
create temp table way_in as
with starts as (
    select target, netdev, 'the ssh session came in by it' as why from ssh_route where netdev <> '' and type <> 'local'
    union all
    select a.target, a.netdev, 'the ssh session came to its address'
    from ssh_session as s
    inner join address as a on a.target = s.target and a.address = s.server
    union all
    select target, netdev, 'a default route leaves by it'
    from route
    where
        destination = 'default' and netdev <> ''
        -- Ports of a fabric have tables of their own; where the way back is known, only the main one is another way.
        and (routing_table = 'main' or target not in (select target from ssh_route))
    union all
    select target, netdev, 'it carries management' from netdev_role where role = 'management'
),

-- An address may lie on a member, by mistake or for a moment.
masters as (
    select s.target, n.master as netdev, s.why
    from starts as s
    inner join netdev as n on n.target = s.target and n.name = s.netdev and n.master <> ''
),

over as (
    from starts
    union all
    from masters
)

select target, netdev, min(why) as why
from (
    from over
    union all
    select o.target, s.below, o.why
    from over as o
    inner join netdev_stack as s on s.target = o.target and s.netdev = o.netdev
)
group by target, netdev;

-- Machines of which it is not known how they are reached: a fact that is missing counts as one that speaks against it.
create temp table way_unknown as
select t.target
from target as t
left join (
    select
        target,
        count(distinct probe) filter (
            probe in ('ip_route', 'ip_address', 'netdev') and status = 'ok' or probe = 'ssh_session' and status in ('ok', 'absent')
        ) as known,
        count(*) filter (probe = 'ssh_session' and status = 'ok') as by_ssh
    from probe_result
    group by target
) as p on p.target = t.target
left join ssh_route as r on r.target = t.target
where
    t.kind = 'host'
    and (coalesce(p.known, 0) < 4 or (p.by_ssh > 0 and r.netdev is null)); -- null: no probe answered

-- The network devices of a card, whichever function they are of: one serial number, or one device on the bus.
create temp table card_netdev as
select n.target, regexp_replace(n.pci, '\.[0-7]$', '') as card, n.name as netdev
from netdev as n
where n.pci <> '';

create temp table guard as
select p.setting, p.target, p.subject, min(why) as why
from (
    select p.setting, p.target, p.subject, 'it is on the way to the machine: ' || w.why as why
    from picked as p
    inner join setting_guard as g on g.setting = p.setting and g.stops in ('link', 'card')
    inner join way_in as w on w.target = p.target and w.netdev = p.netdev
    union all
    select p.setting, p.target, p.subject, w.netdev || ' is on the same card: ' || w.why
    from picked as p
    inner join setting_guard as g on g.setting = p.setting and g.stops = 'card'
    inner join card_netdev as c on c.target = p.target and c.card = regexp_replace(p.pci, '\.[0-7]$', '')
    inner join way_in as w on w.target = c.target and w.netdev = c.netdev
    union all
    -- A switch port in front of such an interface.
    select p.setting, p.target, p.subject, 'the other end, ' || e.peer || ' ' || e.peer_port || ', is on the way to its machine: ' || w.why
    from picked as p
    inner join setting_guard as g on g.setting = p.setting and g.stops in ('link', 'card', 'switch')
    inner join link_end as e on e.target = p.target and e.port = p.switch_port
    inner join way_in as w on w.target = e.peer and w.netdev = e.peer_port
    union all
    select p.setting, p.target, p.subject, 'how the machine is reached is not known: collect it again'
    from picked as p
    inner join setting_guard as g on g.setting = p.setting and g.stops in ('link', 'card')
    inner join way_unknown as w on w.target = p.target
    union all
    select p.setting, p.target, p.subject, 'the host goes out of service, and the site file declares no second way to it ([[way_in]])'
    from picked as p
    inner join setting_guard as g on g.setting = p.setting and g.stops = 'host'
    where p.target not in (select target from second_way)
) as p
where (p.target, p.subject) not in (
    select (q.target, q.subject)
    from picked as q
    inner join second_way as s on s.target = q.target and list_contains(s.netdevs, q.netdev)
)
group by p.setting, p.target, p.subject;
