/* +++
id = "arp-flux"
aliases = ["ADR-04"]
title = "ARP flux between compute ports of one subnet"
severity = "high"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev",
    "netdev.master", "address.prefix_length", "ip_sysctl.value",
]
message = "{subject}: {observed}; expected {expected}"
action = "set"
setting = "host.arp_policy"
covers = ["ADR-05"]
since = "0.2"
sources = ["review ADR-04", "incident I-052 I-053 I-054", "Linux Documentation/networking/ip-sysctl.rst"]

[unless]
"ip_sysctl.value" = "the port does not share a subnet"

[uses]
"probe_result.status" = "distinguishes a port without an address from one whose addresses were not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
With the kernel's defaults, any interface answers ARP for any address of the host. If several rails share a subnet, peers
learn one MAC address for all of them: the traffic of all rails arrives at one NIC, and connections time out or crawl. The
same prefix on two interfaces also creates two equal routes, and which one is used differs from host to host.

## What to do
The fix is one subnet per rail (or /31 links). Until then:
1. Set `arp_ignore=1` and `arp_announce=2` in `net.ipv4.conf.all`, in sysctl.d so that they survive a reboot. They take
   effect at once.
2. Give every address its own routing table (`ip rule from ADDRESS`).
3. On the peers, flush the wrong neighbor entries or wait until they age out.

## Exceptions
Ports in different VRFs do not disturb each other and are not grouped. Peers with static neighbor entries do not use ARP:
waive the finding. Addresses of pods, and of VLANs on the ports, are not checked.
*/
with own as (
    select
        p.target,
        p.netdev,
        p.role,
        n.master as vrf,
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
        -- Networks of one or two addresses have no neighbors to confuse.
        any_known(case
            when s.compute_ports > 1 and o.prefix_length <= 30 then true
            when s.unplaced = 0 and (s.ports_of_no_role = 0 or o.prefix_length > 30) then false
        end) as shares
    from own as o
    left join subnets as s
        on s.target = o.target and s.vrf = o.vrf and s.prefix_length = o.prefix_length and s.network = o.network
    group by o.target, o.netdev
),
arp as (
    select
        target,
        netdev,
        max(value) filter (name = 'arp_ignore') as ignore,
        max(value) filter (name = 'arp_announce') as announce
    from ip_sysctl
    group by target, netdev
)
select
    p.target,
    p.device,
    p.port,
    -- The larger of the interface's value and that of `all` applies.
    'shared subnet with arp_ignore ' || greatest(i.ignore, everywhere.ignore) -- null: for the words
        || ' and arp_announce ' || greatest(i.announce, everywhere.announce) as observed, -- null: for the words
    'a subnet of its own, or arp_ignore 1 and arp_announce 2' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
        and case
            when o.netdev is not null then true
            when r.status = 'ok' and p.link_layer is not null and p.netdev is not null then false
        end as applies,
    case
        when o.shares then (i.ignore = 0 and everywhere.ignore = 0) or (i.announce < 2 and everywhere.announce < 2)
        when not o.shares then false
    end as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join placed as o on o.target = p.target and o.netdev = p.netdev
left join arp as i on i.target = p.target and i.netdev = p.netdev
left join arp as everywhere on everywhere.target = p.target and everywhere.netdev = 'all'
left join probe_result as r on r.target = p.target and r.probe = 'ip_address' and r.instance = ''
