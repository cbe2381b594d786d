/* +++
id = "ADR-06"
title = "The gateway of a rail does not answer"
severity = "high"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.state", "port_scope.netdev", "route.gateway", "route.netdev",
    "unresolved_neighbor.state",
]
message = "{subject}: {observed}, expected {expected}"
implied_by = ["LNK-01"]
since = "0.2"
sources = [
    "review ADR-06 (the gateway only; its active half needs traffic)", "Linux net/core/neighbour.c: neigh_timer_handler",
    "judgement: a gateway without a failed entry is taken as answering",
]

[uses]
"probe_result.status" = "tells a gateway or an entry that is not there from one that was not read"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Everything that leaves the rail's subnet goes to the gateway's MAC address. Where nobody answers for it, connections to
other racks end with a transport error (12) after their retries, while those inside the rack work.

## What to do
`ip neigh show dev NETDEV` and `ping -c 3 -I ADDRESS GATEWAY` with the rail's own address. Then the leaf: the VLAN and the
address of the port, an anycast gateway that is missing on one leaf, a cable to the wrong leaf (TOP-01). Nothing on the
host needs a reset.

## When it is wrong
The entry is what the kernel last found out: a gateway that came back a moment ago may still be listed, and one that
nobody has used since boot has no entry and is not told. Peers are left out: one dead peer has a failed entry on every
host.
*/
with gateways as (
    select distinct target, netdev, lower(gateway) as gateway from route where gateway <> ''
),

-- Only a nexthop object is printed: what it leads to is not known.
unread as (
    select target, count(*) as routes from route where gateway is null or netdev is null group by target
),

asked as (
    select
        g.target,
        g.netdev,
        count(*) as gateways,
        count(u.address) as silent,
        string_agg(g.gateway || ' is ' || u.state, ', ' order by g.gateway) as words
    from gateways as g
    left join unresolved_neighbor as u on u.target = g.target and u.netdev = g.netdev and u.address = g.gateway
    group by all
),

answered as (
    select
        target,
        bool_or(probe = 'ip_route' and status = 'ok') as routes, -- null: no answer is no row
        bool_or(probe = 'ip_neighbor' and status = 'ok') as neighbors -- null: no answer is no row
    from probe_result
    where probe in ('ip_route', 'ip_neighbor')
    group by target
)

select
    p.target,
    p.device,
    p.port,
    'the gateway ' || a.words as observed,
    'that it answers for its address' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.state = 'ACTIVE' and p.netdev <> ''
        and case
            when a.gateways > 0 then true
            when r.routes and n.routes is null and p.netdev is not null then false
        end as applies,
    case when a.silent > 0 then true when r.neighbors and a.gateways > 0 then false end as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join asked as a on a.target = p.target and a.netdev = p.netdev
left join answered as r on r.target = p.target
left join unread as n on n.target = p.target
