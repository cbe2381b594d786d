-- Ports of switches that a plan keeps: those in front of a device on the way to a host, those by which the switch itself is reached,
-- and those between switches that such ways go on over.

-- By every neighbor that either end has, not only by the one that both agree on.
create temp table front as
with heard as (
    select target, port, peer, peer_port from link_end where kind = 'switch' and peer <> ''
    union
    select n.target, n.port, d.target, d.name
    from switch_neighbor as n
    inner join netdev as d on d.mac = lower(n.port_id) and d.mac <> '' and d.kind = 'physical'
    union
    select w.target, w.port, l.target, l.netdev
    from lldp_neighbor as l
    inner join link_end as w
        on w.kind = 'switch'
        and lower(split_part(w.target, '.', 1)) = lower(split_part(l.system_name, '.', 1))
        and w.port in (l.port_id, l.port_description)
)

select h.target, h.port, h.peer, h.peer_port, k.what, k.why
from heard as h
inner join kept_way as k on k.target = h.peer and k.netdev = h.peer_port;

-- Which ports the switch reaches its managers by: its default routes, and the routes to where hosts were read from.
create temp table switch_way as
with fits as (
    select
        r.target,
        r.vrf,
        r.ports,
        case when r.prefix in ('0.0.0.0/0', '::/0') then 'a default route leaves by it' else 'the ssh client is behind it' end as why,
        try_cast(split_part(r.prefix, '/', 2) as integer) as length,
        max(try_cast(split_part(r.prefix, '/', 2) as integer)) over (partition by r.target, r.vrf, c.client) as longest
    from switch_route as r
    inner join address_bits as d on d.text = r.prefix
    left join (select distinct client, bits, family from ssh_session inner join address_bits on text = client) as c
        on c.family = d.family and starts_with(c.bits, d.bits[:try_cast(split_part(r.prefix, '/', 2) as integer)])
    where c.client is not null or r.prefix in ('0.0.0.0/0', '::/0')
),

leaving as (
    select distinct target, vrf, unnest(string_split(ports, ',')) as port, why
    from fits
    where length = longest or length = 0
)

select
    l.target,
    l.vrf,
    l.port,
    l.why,
    regexp_matches(l.port, '^(eth0|mgmt[0-9]*|[Mm]anagement.*|ma[0-9].*)$') as is_apart -- judgement: what the systems call it
from leaving as l
where l.port <> '';

-- Out-of-band if a route leaves by the management port; ports of fabrics count only where none does.
create temp table switch_kept as
with in_band as (
    select * from switch_way where target not in (select target from switch_way where is_apart)
),

own as (
    select i.target, e.port, i.why
    from in_band as i
    inner join link_end as e on e.target = i.target and e.port = i.port
    union
    -- A VLAN or port channel: its members. Where those are not known, any port may be one.
    select i.target, e.port, i.why || ' (' || i.port || ')'
    from in_band as i
    inner join link_end as e on e.target = i.target
    left join (select target, port, max(vlan_mode) as mode from switch_port group by target, port) as p
        on p.target = e.target and p.port = e.port
    where
        i.port not in (select port from link_end where target = i.target)
        and case
            when lower(i.port) like 'vlan%' then coalesce(p.mode, '') <> 'routed' -- null: not told, it may be a member
            else p.mode = i.port or i.port not in (
                select vlan_mode from switch_port where target = i.target and vlan_mode is not null
            )
        end
    union
    select target, port, 'it is the management port'
    from link_end
    where kind = 'switch' and regexp_matches(port, '^(eth0|mgmt[0-9]*|[Mm]anagement.*|ma[0-9].*)$')
)

select target, port, min(why) as why
from own
where target not in (select target from second_way)
group by target, port;

create temp table switch_unknown as
select
    t.target,
    'how the switch is reached is unknown: no route of it leads to where the hosts were read from, and none by default; if it has a'
    || ' second way in, the site file has to say so ([[way_in]])' as why
from target as t
where
    t.kind = 'switch'
    and t.target not in (select target from switch_way)
    and t.target not in (select target from second_way);

-- The way goes on: between the switches that are connected with one that has a host's way in front of it.
create temp table carrier as
with recursive reached as (
    select distinct target from front where what = 'way'
    union
    select e.peer
    from reached as r
    inner join link_end as e on e.target = r.target and e.kind = 'switch' and e.peer_kind = 'switch'
)

select e.target, e.port, (select min(peer || ' ' || peer_port) from front where what = 'way') as whose
from reached as r
inner join link_end as e on e.target = r.target and e.kind = 'switch' and e.peer_kind = 'switch';
