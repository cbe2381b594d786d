/* +++
id = "gateway-silent"
aliases = ["ADR-06"]
title = "Rail gateway not answering"
severity = "high"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.state", "port_scope.netdev", "route.gateway", "route.netdev",
    "unresolved_neighbor.state",
]
message = "{subject}: {observed}; expected {expected}"
action = "ask"
implied_by = ["port-down"]
since = "0.2"
sources = [
    "review ADR-06 (the gateway only; its active half needs traffic)", "Linux net/core/neighbour.c: neigh_timer_handler",
    "judgement: a gateway without a failed entry is taken as answering",
]

[uses]
"probe_result.status" = "distinguishes a gateway or entry that does not exist from one that was not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
All traffic that leaves the rail's subnet goes to the gateway's MAC address. If the gateway does not answer for its address,
connections to other racks fail with a transport error (12) after their retries, while connections inside the rack work.

## What to do
1. Run `ip neigh show dev NETDEV` and `ping -c 3 -I ADDRESS GATEWAY` with the rail's own address.
2. Check the leaf: the VLAN and address of the port, an anycast gateway that is missing on one leaf, a cable to the wrong
   leaf (`cable-wrong-rail`). Nothing on the host needs a reset.

## Exceptions
The entry is the kernel's last result: a gateway that came back a moment ago may still be listed as failed. A gateway that
has not been used since boot has no entry and is not reported. Peers are not checked: one dead peer has a failed entry on
every host.
*/
with gateways as (
    select distinct target, netdev, lower(gateway) as gateway from route where gateway <> ''
),

-- Only a nexthop object is printed: the gateway behind it is unknown.
unread as (
    select target, count(*) as routes from route where gateway is null or netdev is null group by target
),

asked as (
    select
        g.target,
        g.netdev,
        count(*) as gateways,
        count(u.address) as silent,
        list(u.state order by u.state) as states,
        string_agg(g.gateway, ', ' order by g.gateway) filter (u.address is not null) as addresses
    from gateways as g
    left join unresolved_neighbor as u on u.target = g.target and u.netdev = g.netdev and u.address = g.gateway
    group by all
),

answered as (
    select
        target,
        bool_or(probe = 'ip_route' and status = 'ok') as routes, -- null: no answer, no row
        bool_or(probe = 'ip_neighbor' and status = 'ok') as neighbors -- null: no answer, no row
    from probe_result
    where probe in ('ip_route', 'ip_neighbor')
    group by target
)

select
    p.target,
    p.device,
    p.port,
    'the gateway is ' || array_to_string(a.states, ', ') as observed,
    'a gateway that answers' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.state = 'ACTIVE' and p.netdev <> ''
        and case
            when a.gateways > 0 then true
            when r.routes and n.routes is null and p.netdev is not null then false
        end as applies,
    case when a.silent > 0 then true when r.neighbors and a.gateways > 0 then false end as fault,
    p.netdev || case when a.silent > 0 then ', ' || a.addresses else '' end as detail,
    p.inferred
from port_scope as p
left join asked as a on a.target = p.target and a.netdev = p.netdev
left join answered as r on r.target = p.target
left join unread as n on n.target = p.target
