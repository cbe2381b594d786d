-- Steps away from hosts, over all links between switches; 7 is more tiers than any fabric has, and ends circles.
with recursive switches as (
    select target, started as read_at from target where kind = 'switch'
),

link as (
    select a.target, a.port, a.peer, a.peer_kind, e.is_up, e.speed_mbps
    from adjacency as a
    inner join own_end as e on e.target = a.target and e.port = a.port
    where a.kind = 'switch' and a.peer_kind in ('host', 'switch') and a.peer <> a.target
),

-- A host's port that is no RDMA port (management) makes no leaf.
below as (
    select a.target, a.peer as host, e.rail, e.plane
    from adjacency as a
    left join own_end as e on e.target = a.peer and e.port = a.peer_port
    left join netdev as n on n.target = a.peer and n.name = a.peer_port
    where a.kind = 'switch' and a.peer_kind = 'host' and (e.port is not null or n.name is null)
    union all
    select a.peer, a.target, e.rail, e.plane
    from adjacency as a
    inner join own_end as e on e.target = a.target and e.port = a.port
    anti join own_end as o on o.target = a.peer and o.port = a.peer_port
    where a.kind = 'host' and a.peer_kind = 'switch'
),

edge as (
    select distinct target, peer from adjacency where kind = 'switch' and peer_kind = 'switch' and peer <> target
    union
    select distinct peer, target from adjacency where kind = 'switch' and peer_kind = 'switch' and peer <> target
),

step as (
    select distinct target, 1 as tier from below
    union
    select e.peer as target, s.tier + 1 as tier
    from step as s
    inner join edge as e on e.target = s.target
    where s.tier < 7
),

tiers as (
    select target, min(tier) as tier from step group by target
),

-- The rail and plane of most ports: one swapped cable does not change whose leaf it is. The share is that of
-- cable-wrong-rail (judgement). -1 = several.
counted as (
    select target, rail, plane, count(*) as n from below where rail is not null group by target, rail, plane
),

leaf_rail as (
    select target, case when 5 * max(n) > 4 * sum(n) then arg_max(rail, n) else -1 end as rail
    from (select target, rail, sum(n) as n from counted group by target, rail)
    group by target
),

leaf_plane as (
    select target, case when 5 * max(n) > 4 * sum(n) then arg_max(plane, n) else -1 end as plane
    from (select target, plane, sum(n) as n from counted group by target, plane)
    group by target
),

upwards as (
    select e.target, e.peer
    from edge as e
    inner join tiers as t on t.target = e.target
    inner join tiers as p on p.target = e.peer and p.tier = t.tier + 1
),

above as (
    select r.target, r.rail, p.plane from leaf_rail as r inner join leaf_plane as p on p.target = r.target
    union
    select u.peer as target, a.rail, a.plane from above as a inner join upwards as u on u.target = a.target
),

railed as (
    select
        target,
        case when count(distinct rail) = 1 then any_value(rail) else -1 end as rail,
        case when count(distinct plane) = 1 then any_value(plane) else -1 end as plane
    from above
    group by target
),

-- Pods: a switch of tier 2 is first called by its first leaf, a leaf by what most of its switches are called:
-- so a cable between two pods does not make them one.
of_leaf as (
    select u.target as leaf, u.peer as spine
    from upwards as u
    inner join tiers as t on t.target = u.target and t.tier = 1
),

first_leaf as (
    select spine, min(leaf) as pod from of_leaf group by spine
),

leaf_pod as (
    select leaf, arg_min(pod, row(-n, pod)) as pod
    from (
        select o.leaf, f.pod, count(*) as n
        from of_leaf as o
        inner join first_leaf as f on f.spine = o.spine
        group by o.leaf, f.pod
    )
    group by leaf
),

pod_name as (
    select pod, min(leaf) as name from leaf_pod group by pod
),

spine_pod as (
    select spine, arg_min(name, row(-n, name)) as name
    from (
        select o.spine, n.name, count(*) as n
        from of_leaf as o
        inner join leaf_pod as l on l.leaf = o.leaf
        inner join pod_name as n on n.pod = l.pod
        group by o.spine, n.name
    )
    group by spine
),

-- A neighbor that is heard is a link that is up, also where its state was not read.
sides as (
    select
        l.target,
        count(*) filter (l.peer_kind = 'host' or p.tier < t.tier) as down_links,
        count(*) filter (p.tier > t.tier) as up_links,
        case when count(l.speed_mbps) filter (l.peer_kind = 'host' or p.tier < t.tier) = down_links
            then coalesce(sum(l.speed_mbps) filter (l.peer_kind = 'host' or p.tier < t.tier), 0) end as down_mbps, -- null: no link
        case when count(l.speed_mbps) filter (p.tier > t.tier) = up_links
            then coalesce(sum(l.speed_mbps) filter (p.tier > t.tier), 0) end as up_mbps -- null: no link
    from link as l
    left join tiers as t on t.target = l.target
    left join tiers as p on p.target = l.peer and l.peer_kind = 'switch'
    where l.is_up is distinct from false
    group by l.target
),

hosts as (
    select target, count(distinct host) as hosts from below group by target
),

hearing as (
    select target, bool_and(lldp_read) as lldp_read, max(read_at) as read_at from own_end where kind = 'switch' group by target
)

select
    s.target,
    coalesce(h.read_at, s.read_at) as read_at,
    t.tier,
    r.rail,
    r.plane,
    case
        when t.tier = 1 then coalesce(n.name, s.target) -- null: nothing is above it
        when t.tier = 2 then p.name
        when t.tier > 2 then ''
    end as pod,
    -- Who does not hear its neighbors cannot count them.
    case when h.lldp_read then coalesce(c.hosts, 0) end as hosts, -- null: none
    case when h.lldp_read then coalesce(d.down_links, 0) end as down_links, -- null: none
    case when h.lldp_read then coalesce(d.up_links, 0) end as up_links, -- null: none
    case when h.lldp_read then case when d.target is null then 0 else d.down_mbps end end as down_mbps,
    case when h.lldp_read then case when d.target is null then 0 else d.up_mbps end end as up_mbps
from switches as s
left join tiers as t on t.target = s.target
left join railed as r on r.target = s.target
left join leaf_pod as l on l.leaf = s.target
left join pod_name as n on n.pod = l.pod
left join spine_pod as p on p.spine = s.target
left join sides as d on d.target = s.target
left join hosts as c on c.target = s.target
left join hearing as h on h.target = s.target
