/* +++
id = "N-07"
title = "The NIC gave up pausing"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} paused the network so long that it gave up, {observed}"
baseline = true
since = "0.2"
sources = ["rules-review.md N-07, G-WINDOW", "mlx5 counters.rst (tx_pause_storm_error_events)", "incidents.md I-063, I-071"]

[uses]
"port_scope.inferred" = "caps the severity"
+++
## Why it matters
The host did not take packets for so long that the NIC's own watchdog stopped the pause it was sending. From then on packets
are dropped, also in a lossless class. Until then the pause had spread: the whole fabric can stand still for one such host.

## What to do
Drain the host: it endangers others. Then look for why it stood still: a hung GPU or driver (Xid, health messages in the
kernel's log), PCIe (N-05, PCI-01 to PCI-03), memory on the wrong socket, a firmware fault. Nothing is to be set on the NIC.

## When it is wrong
A host that crashed or was stopped in a debugger looks the same. The counters must be of one boot.
*/
with one_boot as (
    -- Counters compare only within one boot.
    select n.target
    from host as n
    inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id
),

-- A counter that went down was reset. An answer that has the packets and not the events is of a NIC without them.
netdevs as (
    select
        n.target,
        n.netdev,
        count(*) filter (n.counter = 'tx_pause_storm_error_events') > 0 as has_it,
        max(n.value - b.value) filter (n.counter = 'tx_pause_storm_error_events' and n.value >= b.value) as events,
        max(epoch(n.read_at) - epoch(b.read_at)) as seconds
    from netdev_counter as n
    left join one_boot as o on o.target = n.target
    left join before.netdev_counter as b on b.target = o.target and b.netdev = n.netdev and b.counter = n.counter
    where n.counter in ('tx_pause_storm_error_events', 'rx_packets_phy')
    group by n.target, n.netdev
),

ports as (
    -- A bond counts on its members.
    select
        p.target,
        p.device,
        p.port,
        any_known(n.has_it) as has_it,
        any_known(n.events > 0) as fault,
        sum(n.events) as events,
        max(n.seconds) as seconds
    from port_scope as p
    left join bond_member as b on b.target = p.target and b.bond = p.netdev
    left join netdevs as n on n.target = p.target and n.netdev = case when b.member is null then p.netdev else b.member end
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    case when e.events = 1 then 'once' else e.events || ' times' end || printf(' in %.0f s', e.seconds) as observed,
    'never' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> '' and e.has_it as applies,
    e.fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
