/* +++
id = "rp-filter-strict"
aliases = ["ADR-10"]
title = "Strict reverse path filter on a shared subnet"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev",
    "netdev.master", "address.prefix_length", "ip_sysctl.value", "ip_rule.source",
]
message = "{subject}: {observed}; expected {expected}"
action = "set"
setting = "host.rp_filter"
covers = ["ADR-04"]
since = "0.2"
sources = ["review ADR-04", "incident I-052", "Linux Documentation/networking/ip-sysctl.rst: rp_filter"]

[uses]
"probe_result.status" = "distinguishes a port without an address from one whose addresses were not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
With rp_filter 1, the kernel drops packets that arrive on a different interface from the one it would reply on. If several
rails share a subnet, the routing table selects only one of them for replies: ARP replies, pings and connection setup on the
others are silently dropped. RDMA data itself passes, so the rail looks half alive.

## What to do
Set `net.ipv4.conf.all.rp_filter=2` (loose) in sysctl.d so that it survives a reboot. It takes effect at once. Do not set 0:
that removes the protection on the management network as well. The larger of the values for `all` and for the interface
applies, so 2 in one of them is enough. One subnet per rail avoids the problem altogether.

## Exceptions
A port whose address has its own routing table (`ip rule from ADDRESS`) passes the strict check and is not reported. Rules
that select by anything other than the address are not evaluated: if such a rule covers the port, waive the finding.
*/
with own as (
    select
        p.target,
        p.netdev,
        p.role,
        n.master as vrf,
        a.address,
        a.prefix_length,
        -- The network as a number.
        list_reduce(try_cast(string_split(a.address, '.') as bigint[]), lambda high, low: high * 256 + low)
            >> (32 - a.prefix_length) as network
    from port_scope as p
    join address as a on a.target = p.target and a.netdev = p.netdev and a.family = 'inet'
    left join netdev as n on n.target = p.target and n.name = p.netdev
    where p.link_layer = 'Ethernet'
),
subnets as (
    select
        target,
        vrf,
        prefix_length,
        network,
        count(distinct netdev) filter (role = 'compute') as compute_ports,
        count(distinct netdev) filter (role is null) as ports_of_no_role,
        -- Any address of the host whose subnet or VRF is unknown may be in this subnet as well.
        sum(count(*) filter (network is null or vrf is null)) over (partition by target) as unplaced -- null: a count is always there
    from own
    group by target, vrf, prefix_length, network
),
placed as (
    select
        o.target,
        o.netdev,
        any_known(case
            when s.compute_ports > 1 and o.prefix_length <= 30 then true
            when s.unplaced = 0 and (s.ports_of_no_role = 0 or o.prefix_length > 30) then false
        end) as shares,
        -- A host always has rules: without a row, they were not collected.
        all_known(list_contains(u.sources, o.address) or list_contains(u.sources, o.address || '/32')) as has_rule
    from own as o
    left join subnets as s
        on s.target = o.target and s.vrf = o.vrf and s.prefix_length = o.prefix_length and s.network = o.network
    left join (
        select target, case when count(source) = count(*) then list(source) end as sources from ip_rule group by target
    ) as u on u.target = o.target
    group by o.target, o.netdev
),
filters as (
    select target, netdev, max(value) as value from ip_sysctl where name = 'rp_filter' group by target, netdev
)
select
    p.target,
    p.device,
    p.port,
    'rp_filter is 1 (strict) on a shared subnet' as observed,
    '2 (loose)' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
        and case
            when o.netdev is not null then o.shares and not o.has_rule
            when r.status = 'ok' and p.link_layer is not null and p.netdev is not null then false
        end as applies,
    -- The larger of the two values applies.
    (i.value = 1 or everywhere.value = 1) and i.value < 2 and everywhere.value < 2 as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join placed as o on o.target = p.target and o.netdev = p.netdev
left join filters as i on i.target = p.target and i.netdev = p.netdev
left join filters as everywhere on everywhere.target = p.target and everywhere.netdev = 'all'
left join probe_result as r on r.target = p.target and r.probe = 'ip_address' and r.instance = ''
