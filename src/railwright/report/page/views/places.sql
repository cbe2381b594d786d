-- Where things are on the page: machines and ports as numbers. Tables at hand: those of a check, of ceilings and of the pace.

create or replace temp macro natural_order(name) as (
    regexp_extract(name, '^[^0-9]*'),
    try_cast(regexp_extract(name, '[0-9]+') as bigint),
    name
);

-- 8 -> 3
create or replace temp macro page_priorities(mask) as nullif(concat_ws(
    ',',
    case when mask & 1 > 0 then '0' end, case when mask & 2 > 0 then '1' end, case when mask & 4 > 0 then '2' end,
    case when mask & 8 > 0 then '3' end, case when mask & 16 > 0 then '4' end, case when mask & 32 > 0 then '5' end,
    case when mask & 64 > 0 then '6' end, case when mask & 128 > 0 then '7' end
), '');

create or replace temp table page_host as
select
    (row_number() over (order by natural_order(t.target)) - 1)::integer as idx,
    t.target,
    t.status,
    t.out_of_service,
    c.write_gbps,
    c.wire_gbps,
    p.gbps as pace_gbps,
    p.is_open as is_pace_open
from target as t
left join host_ceiling as c on c.target = t.target
left join host_pace as p on p.target = t.target
where t.kind = 'host';

-- Switches that were read, then those that hosts or switches name and nobody read.
create or replace temp table page_switch as
with named as (
    select target, status, out_of_service from target where kind = 'switch'
    union all
    select distinct e.peer, 'not asked', ''
    from link_end as e
    anti join target as t on t.target = e.peer
    where e.peer <> '' and e.peer_kind in ('switch', 'stranger')
),

systems as (
    select target, min(system) as system, min(model) as model
    from switch
    group by target
),

-- What hosts say of a leaf that was not read.
heard as (
    select e.peer as target, mode(p.rail) as rail
    from link_end as e
    inner join site_port as p on p.target = e.target and p.device = e.device and p.port = e.device_port
    where e.kind = 'host' and e.peer <> '' and p.role = 'compute'
    group by e.peer
)

select
    (row_number() over (order by coalesce(p.tier, 1), coalesce(p.rail, h.rail, 1000000), natural_order(n.target)) - 1)::integer as idx,
    n.target,
    n.status,
    n.out_of_service,
    coalesce(p.tier, case when h.target is not null then 1 end) as tier,
    case when p.rail is null then h.rail when p.rail >= 0 then p.rail end as rail, -- -1: several
    p.plane,
    p.pod,
    p.down_links,
    p.up_links,
    p.down_mbps,
    p.up_mbps,
    s.system,
    s.model
from named as n
left join switch_place as p on p.target = n.target
left join systems as s on s.target = n.target
left join heard as h on h.target = n.target;

-- Every port of a host that was read, and every end of a host that a switch hears and the host does not show: all of those of hosts
-- that were not read, and a port that a host has lost.
create or replace temp table page_port as
with partner as (
    select
        target,
        device,
        device_port,
        the_only(peer) as peer,
        the_only(peer_port) as peer_port
    from link_end
    where kind = 'host' and device <> '' and peer <> ''
    group by target, device, device_port
),

listed as (
    select
        h.idx as host,
        h.target,
        p.device,
        p.port,
        p.pci,
        p.netdev,
        coalesce(p.rail, s.rail) as rail,
        p.role,
        e.peer,
        e.peer_port
    from page_host as h
    inner join site_port as p on p.target = h.target
    left join partner as e on e.target = p.target and e.device = p.device and e.device_port = p.port
    left join page_switch as s on s.target = e.peer and p.role = 'compute'
    union all
    select
        h.idx as host,
        h.target,
        null as device,
        null as port,
        null as pci,
        nullif(e.peer_port, '') as netdev,
        s.rail,
        null as role,
        e.target as peer,
        e.port as peer_port
    from page_host as h
    inner join link_end as e on e.kind = 'switch' and e.peer = h.target
    inner join page_switch as s on s.target = e.target
    anti join partner as q on q.target = h.target and q.peer = e.target and q.peer_port = e.port
    anti join own_end as o on o.target = h.target and e.peer_port in (o.port, o.alias, o.mac)
    anti join netdev as d on d.target = h.target and e.peer_port in (d.name, d.mac)
)

select
    (
        row_number() over (
            order by host, natural_order(coalesce(device, netdev, peer)), coalesce(port, 0), peer_port
        ) - 1
    )::integer as idx,
    *
from listed;

-- Which ports a verdict is about: the one that it names, or all of the machine where it is about the whole of it.
create or replace temp table page_told as
with told as (
    select
        f.rule,
        f.subject,
        f.target,
        f.verdict,
        f.state,
        f.rank,
        f.device,
        f.port,
        f.pci,
        f.device is null and f.pci is null and f.netdev is null as is_whole
    from placed as f
    where f.verdict in ('fail', 'unknown') and f.state in ('open', 'implied')
)

-- What is said of a whole machine and follows from one of its parts is told there.
select t.rule, t.subject, t.verdict, t.rank, p.idx, t.is_whole
from told as t
inner join page_port as p
    on p.target = t.target
    and ((t.is_whole and t.state = 'open') or (p.device = t.device and p.port = coalesce(t.port, p.port)) or (t.device is null and p.pci = t.pci));

-- How a square is painted: 0 nothing found, 1 info ... 5 blocker, 6 not read, 7 out of service, 8 nothing found but not all decided.
create or replace temp macro page_level(worst, is_open, is_read, is_away) as
    case when is_away then 7 when worst is not null then 5 - worst when not is_read then 6 when is_open then 8 else 0 end;

create or replace temp table page_machine as
select
    t.target,
    min(f.rank) filter (f.verdict = 'fail' and f.state in ('open', 'implied')) as worst,
    count(*) filter (f.verdict = 'fail' and f.state in ('open', 'implied')) as failed,
    count(*) filter (f.verdict = 'unknown' and f.state = 'open') as unknown
from (
    select target, out_of_service from page_host
    union all
    select target, out_of_service from page_switch
) as t
left join finding as f on f.target = t.target
group by t.target;

create or replace temp table page_level_of as
with told as (
    select
        idx,
        min(rank) filter (verdict = 'fail') as worst,
        bool_or(verdict = 'unknown') as is_open
    from page_told
    group by idx
)

select p.idx, page_level(t.worst, coalesce(t.is_open, false), h.status in ('reached', 'incomplete') and p.device is not null, h.out_of_service <> '') as level
from page_port as p
inner join page_host as h on h.idx = p.host
left join told as t on t.idx = p.idx;
