/* +++
id = "address-twice"
aliases = ["N-24"]
title = "Duplicate IP address, MAC or GUID"
severity = "blocker"
subject = "port"
peers = true
needs = [
    "port_scope.link_layer", "host.boot_id", "rdma_device.node_guid", "netdev.mac", "address.scope",
]
message = "{subject}: {observed}; expected {expected}"
action = "ask"
setting = "netdev.address"
since = "0.2"
sources = ["review N-24", "judgement: what a boot id tells of a machine that is listed twice"]

[unless]
"rdma_device.node_guid" = "the port is Ethernet"
"netdev.mac" = "the port is InfiniBand"
"address.scope" = "the port is InfiniBand"

[uses]
"port_scope.role" = "used on Ethernet only: a GUID must be unique whatever the port is for"
"port_scope.netdev" = "used on Ethernet only"
"probe_result.status" = "distinguishes a port without an address from one whose addresses were not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Two machines with the same rail address or MAC address receive each other's packets. Connections break on both,
intermittently and without a pattern. On InfiniBand, the subnet manager keeps one of two ports with the same GUID off the
fabric.

## What to do
1. Find which of the two machines has the wrong value. Usual causes: an address copied with a host's network file or a
   cloned image; a MAC address or GUID written to the card when a board was exchanged.
2. Drain that machine.
3. Correct the value. A new IP address takes effect at once. A new MAC address or GUID takes effect after a firmware reset,
   which takes down all ports of the card.

## Exceptions
Islands that never meet may use the same addresses: waive the finding. A machine that is listed under two names is
recognised by its boot ID and not reported. The system image GUID is not compared, because hosts that share one multi-host
card share it. Only machines of this collection that answered are compared. If an address or GUID of one of them was not
collected, it could equal any other, so the check is inconclusive for all of them.
*/
with identities as (
    select p.target, p.device, p.port, 'node GUID' as kind, d.node_guid as value, true as is_asked
    from port_scope as p
    left join rdma_device as d on d.target = p.target and d.device = p.device
    where p.link_layer = 'InfiniBand'
    union all
    select p.target, p.device, p.port, 'MAC address', n.mac, p.role is null or p.role in ('compute', 'storage')
    from port_scope as p
    left join netdev as n on n.target = p.target and n.name = p.netdev
    where p.link_layer = 'Ethernet' and (p.netdev <> '' or p.netdev is null)
    union all
    -- An address that may be a global one stays without a value until its scope is known.
    select p.target, p.device, p.port, 'address', case when a.scope = 'global' then a.address end, p.role is null or p.role in ('compute', 'storage')
    from port_scope as p
    join address as a on a.target = p.target and a.netdev = p.netdev
    where p.link_layer = 'Ethernet' and (a.scope = 'global' or a.scope is null)
),
-- What was not collected could equal any other: while another machine has such a port, nothing is proven to be unique.
unread as (
    select i.kind, min(i.target) as first_target, max(i.target) as last_target
    from (
        select kind, target from identities where value is null and is_asked
        union all
        select unnest(['node GUID', 'MAC address', 'address']), target from port_scope where link_layer is null
        union all
        select 'address', p.target
        from port_scope as p
        left join probe_result as r on r.target = p.target and r.probe = 'ip_address' and r.instance = ''
        where p.link_layer = 'Ethernet' and (p.role is null or p.role in ('compute', 'storage'))
            and (p.netdev is null or (p.netdev <> '' and (r.status is null or r.status <> 'ok')))
    ) as i
    group by i.kind
),
-- Machines are distinguished by boot ID: one may be listed under two names.
holders as (
    select
        i.kind,
        i.value,
        case when min(h.boot_id) <> max(h.boot_id) then true when count(h.boot_id) = count(*) then false end as is_double,
        min(i.target) as first_target,
        max(i.target) as last_target
    from identities as i
    left join host as h on h.target = i.target
    group by i.kind, i.value
),
-- In a step of its own: of a million identities hardly any is a duplicate.
doubles as (
    select i.kind, i.value, count(distinct h.boot_id) as machines
    from identities as i
    inner join holders as d on d.kind = i.kind and d.value = i.value and d.is_double
    inner join host as h on h.target = i.target
    group by i.kind, i.value
),
judged as (
    select
        i.target,
        i.device,
        i.port,
        any_known(
            case
                when i.value in ('', '00:00:00:00:00:00', '0000:0000:0000:0000') then false
                when h.is_double then true
                when u.kind is null or (u.first_target = i.target and u.last_target = i.target) then h.is_double
            end
        ) as is_double,
        count(*) filter (i.kind = 'address') as addresses,
        max({
            'said': i.kind || ' on ' || d.machines || ' machines',
            'detail': i.value || ' is on ' || h.first_target || ' and ' || h.last_target
        }) filter (h.is_double) as words
    from identities as i
    left join holders as h on h.kind = i.kind and h.value = i.value
    left join doubles as d on d.kind = i.kind and d.value = i.value
    left join unread as u on u.kind = i.kind
    group by i.target, i.device, i.port
)
select
    p.target,
    p.device,
    p.port,
    j.words.said as observed,
    'one machine only' as expected,
    p.link_layer = 'InfiniBand' or (
        p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> ''
        and case when j.addresses > 0 then true when r.status = 'ok' then false end
    ) as applies,
    j.is_double as fault,
    case when p.netdev <> '' then p.netdev || ', ' else '' end || j.words.detail as detail,
    p.link_layer = 'Ethernet' and p.inferred as inferred
from port_scope as p
left join judged as j on j.target = p.target and j.device = p.device and j.port = p.port
left join probe_result as r on r.target = p.target and r.probe = 'ip_address' and r.instance = ''
