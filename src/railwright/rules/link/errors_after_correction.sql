/* +++
id = "N-06"
title = "Error correction fails on Ethernet"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} has {observed} that error correction did not repair"
implied_by = ["LNK-03", "THM-01"]
baseline = true
since = "0.2"
sources = [
  "review N-06, G-WINDOW", "mlx5 counters.rst (rx_pcs_symbol_err_phy)",
  "judgement: while a link trains it makes errors, so a window in which it fell says nothing",
]

[uses]
"port_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"netdev_fec.uncorrectable_blocks" = "few drivers print it"
"before.netdev_fec.uncorrectable_blocks" = "the same"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Every such error is a packet that is lost, also in a lossless fabric: PFC does not help against a bad cable. RoCE sends the
whole window anew.

## What to do
As for a bad signal (LNK-04): inspect and clean, reseat, swap the cable or module, then one port at a time. Each step takes
the link down: drain the host. If error correction is off or differs between the ends (LNK-03), set that first.

## When it is wrong
Errors while the link trains: if it went down between the snapshots, the port is unknown here and LNK-05 speaks. The
counters must be of one boot, and the driver not reloaded.
*/
with netdevs as (
    select
        target,
        netdev,
        max(rise) filter (counter = 'rx_pcs_symbol_err_phy') as symbols,
        max(rise) filter (counter = 'link_down_events_phy') as flaps,
        max(seconds) as seconds
    from netdev_rise
    where counter in ('rx_pcs_symbol_err_phy', 'link_down_events_phy')
    group by target, netdev
),

links as (
    -- A bond counts on its members.
    select
        p.target,
        p.device,
        p.port,
        n.symbols,
        f.uncorrectable_blocks - g.uncorrectable_blocks as blocks,
        n.seconds,
        case
            when n.symbols = 0 and coalesce(blocks, 0) <= 0 then false -- null: few drivers print blocks
            when (n.symbols > 0 or blocks > 0) and n.flaps = 0 then true
        end as fault
    from port_link as p
    left join netdevs as n on n.target = p.target and n.netdev = p.netdev
    left join netdev_fec as f on f.target = n.target and f.netdev = n.netdev
    left join before.netdev_fec as g on g.target = n.target and g.netdev = n.netdev
),

ports as (
    select
        target,
        device,
        port,
        any_known(fault) as fault,
        sum(symbols) as symbols, -- null: for the words
        sum(blocks) as blocks, -- null: for the words
        max(seconds) as seconds
    from links
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    e.symbols || ' symbols' || case when e.blocks > 0 then ' and ' || e.blocks || ' blocks' else '' end as observed,
    'none' as expected,
    not is_of_other_vendor(p.vendor) and p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> '' as applies,
    e.fault,
    printf('in %.0f s', e.seconds) as detail,
    p.inferred
from port_scope as p
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
