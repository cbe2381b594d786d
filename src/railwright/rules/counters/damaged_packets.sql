/* +++
id = "CNT-02"
title = "Packets arrive damaged"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id",
  "before.host.boot_id",
]
message = "{subject} received {observed} with a bad checksum"
implied_by = ["CNT-02b"]
baseline = true
since = "0.2"
sources = ["rules-review.md CNT-02, G-WINDOW", "reference.md B5", "incidents.md I-072"]

[uses]
"port_scope.netdev" = "only for the words"
"port_scope.inferred" = "caps the severity"
+++
## Why it matters
RoCE's own checksum (ICRC) covers a packet from NIC to NIC. Each link's checksum was good and this one is not: something
*inside* a switch, or a NIC, changed the packet. The packet is dropped and sent anew; it is the last guard of the data.

## What to do
Find the hop that the receivers with this fault have in common; a switch's memory or a sending NIC. Take it out of the path
and have it replaced. A cable is rarely the cause.

## When it is wrong
Something on the path that rewrites RoCE packets without a new checksum (tunnels, mirrors, address translation) makes the
same count. The counters must be of one boot.
*/
with one_boot as (
    -- Counters compare only within one boot.
    select n.target
    from host as n
    inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id
),

-- A counter that went down was reset.
rises as (
    select
        n.target,
        n.device,
        n.port,
        case when n.value >= b.value then n.value - b.value end as rise,
        epoch(n.read_at) - epoch(b.read_at) as seconds
    from rdma_counter as n
    inner join one_boot as o on o.target = n.target
    inner join before.rdma_counter as b
        on b.target = n.target and b.device = n.device and b.port = n.port and b.counter = n.counter
    where n.counter = 'rx_icrc_encapsulated'
)

select
    p.target,
    p.device,
    p.port,
    r.rise || case when r.rise = 1 then ' packet' else ' packets' end || printf(' in %.1f hours', r.seconds / 3600) as observed,
    'none' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') as applies,
    r.rise > 0 as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join rises as r on r.target = p.target and r.device = p.device and r.port = p.port
