/* +++
id = "fec-uncorrectable"
aliases = ["N-06"]
title = "Uncorrectable FEC errors"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} has {observed} that FEC could not correct"
action = "reseat"
implied_by = ["fec-off", "module-hot"]
baseline = true
since = "0.2"
sources = [
  "review N-06, G-WINDOW", "mlx5 counters.rst (rx_pcs_symbol_err_phy)",
  "judgement: while a link trains it makes errors, so a window in which it fell says nothing",
]

[uses]
"port_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"netdev_fec.uncorrectable_blocks" = "few drivers print it"
"before.netdev_fec.uncorrectable_blocks" = "the same"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Every such error is a lost packet, even in a lossless fabric: PFC does not help against a bad cable. RoCE retransmits the
whole window.

## What to do
1. If FEC is off or mismatched between the link partners (`fec-off`), fix that first.
2. Drain the host: each of the next steps takes the link down.
3. Proceed as for a bad signal (`link-ber-high`): inspect and clean, reseat, swap the cable or module, then swap one port at
   a time.

## Exceptions
Errors during link training are expected. If the link went down between the snapshots, this check is inconclusive and
`link-went-down` reports it instead. Both snapshots must be from the same boot, without a driver reload in between. Cards of
other vendors are not checked: `rx_pcs_symbol_err_phy` is a counter of mlx5.
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
    e.symbols || ' symbol errors' || case when e.blocks > 0 then ' and ' || e.blocks || ' blocks' else '' end as observed,
    'none' as expected,
    not is_of_other_vendor(p.vendor) and p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> '' as applies,
    e.fault,
    printf('in %.0f s', e.seconds) as detail,
    p.inferred
from port_scope as p
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
