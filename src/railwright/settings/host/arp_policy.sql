-- Compute ports of one subnet answer for each other's addresses.
with own as (
    select
        p.target,
        p.netdev,
        p.role,
        n.master as vrf,
        a.prefix_length,
        list_reduce(try_cast(string_split(a.address, '.') as bigint[]), lambda high, low: high * 256 + low) >> (32 - a.prefix_length) as network
    from port_scope as p
    inner join address as a on a.target = p.target and a.netdev = p.netdev and a.family = 'inet'
    left join netdev as n on n.target = p.target and n.name = p.netdev
    where (p.link_layer = 'Ethernet' or p.link_layer is null) and (p.role = 'compute' or p.role is null)
),

subnets as (
    select target, vrf, network, count(distinct netdev) filter (role = 'compute') > 1 and min(prefix_length) <= 30 as is_shared
    from own
    where network is not null and vrf is not null
    group by target, vrf, prefix_length, network
),

arp as (
    select
        target,
        netdev,
        max(value) filter (name = 'arp_ignore') as ignore,
        max(value) filter (name = 'arp_announce') as announce
    from ip_sysctl
    group by target, netdev
),

hosts as (
    select
        o.target,
        any_known(s.is_shared) as shares,
        all_known(i.ignore >= 1 and i.announce >= 2) as is_enough,
        all_known(o.network is not null and o.vrf is not null and o.role is not null) as is_read
    from own as o
    left join subnets as s on s.target = o.target and s.vrf = o.vrf and s.network = o.network
    left join arp as i on i.target = o.target and i.netdev = o.netdev
    group by o.target
)

select
    h.target,
    'arp_ignore ' || a.ignore || ' and arp_announce ' || a.announce as now,
    case
        when h.shares and h.is_enough is not true and a.ignore is not null and a.announce is not null
            then 'arp_ignore ' || at_least(a.ignore, 1) || ' and arp_announce ' || at_least(a.announce, 2)
        when h.shares and h.is_enough is not true then 'arp_ignore 1 and arp_announce 2'
        when h.is_read then 'arp_ignore ' || a.ignore || ' and arp_announce ' || a.announce
    end as wanted,
    case when h.is_read and h.is_enough is not null then '' end as refused,
    a.ignore,
    a.announce,
    at_least(a.ignore, 1) as to_ignore,
    at_least(a.announce, 2) as to_announce
from hosts as h
left join arp as a on a.target = h.target and a.netdev = 'all'
