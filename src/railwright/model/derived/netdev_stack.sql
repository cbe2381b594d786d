-- What lies on what: a bond on its members, a VLAN or macvlan on its link, a bridge on its ports. A route or an address
-- belongs to the uppermost; what it means for a port is told by the way down.
with recursive edge as (
    select target, master as above, name as below from netdev where master <> ''
    union
    select target, netdev, link from ip_link where link <> '' and link_netnsid = -1 and link <> netdev
    union
    -- A VLAN that only routes name: by the convention of the tools it is called after its link.
    select r.target, r.netdev, n.name
    from route as r
    inner join netdev as n on n.target = r.target and r.netdev = n.name || '.' || regexp_extract(r.netdev, '\.([0-9]+)$', 1)
    where r.netdev like '%.%'
),

-- Pods bring hundreds of devices: those below which nothing is are left out.
bottom as (
    select n.target, n.read_at, n.name
    from netdev as n
    left join bond as b on b.target = n.target and b.netdev = n.name
    where n.kind = 'physical' or b.netdev is not null
),

up(target, read_at, below, netdev, depth) as (
    select b.target, b.read_at, b.name, e.above, 1
    from bottom as b
    inner join edge as e on e.target = b.target and e.below = b.name
    union
    select up.target, up.read_at, up.below, e.above, up.depth + 1
    from up
    inner join edge as e on e.target = up.target and e.below = up.netdev
    where up.depth < 8 -- the kernel's own limit: MAX_NEST_DEV of netdevice.h
)

select target, any_value(read_at) as read_at, netdev, below, min(depth) as depth
from up
group by target, netdev, below
