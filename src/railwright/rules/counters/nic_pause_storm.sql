/* +++
id = "nic-pause-storm"
aliases = ["N-07"]
title = "Pause storm from a NIC"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} paused the network: {observed}"
action = "ask"
baseline = true
since = "0.2"
sources = ["review N-07, G-WINDOW", "mlx5 counters.rst (tx_pause_storm_error_events, tx_pause_storm_warning_events)", "incident I-063, I-071"]

[uses]
"port_scope.inferred" = {purpose = "severity"}

[grades]
high = "the pause lasted until the NIC's watchdog stopped it"
medium = "the watchdog warned and has not stopped the pause yet"
+++
## Why it matters
The host did not take packets for a long time, and the NIC sent pause without a break. Its senders stall, and with PFC so do
others behind the same switches: one such host can stall the whole fabric. The NIC's own watchdog then stops the pause, and
from then on packets are dropped, even in a lossless class.

## What to do
1. If the watchdog stopped the pause, drain the host: it endangers others.
2. Find out why the host stalled: a hung GPU or driver (Xid, health messages in the kernel log), PCIe (`pcie-back-pressure`,
   `pcie-link-downtrained`, `pcie-link-narrow` and `pcie-below-port-rate`), memory on the wrong socket, a firmware fault.
   Compare with its peers. Do not change settings on the NIC.

## Exceptions
A host that crashed or was stopped in a debugger looks the same. A few seconds of pause under many-to-one traffic are normal
in a lossless fabric; what counts is that it happens often, and on this host. Both snapshots must be from the same boot.
*/
-- An answer with packet counters and without the event counters is from a NIC that does not have them.
with netdevs as (
    select
        target,
        netdev,
        count(*) filter (counter = 'tx_pause_storm_error_events') > 0 as has_errors,
        count(*) filter (counter = 'tx_pause_storm_warning_events') > 0 as has_warnings,
        max(rise) filter (counter = 'tx_pause_storm_error_events') as errors,
        max(rise) filter (counter = 'tx_pause_storm_warning_events') as warnings,
        max(seconds) as seconds
    from netdev_rise
    where counter in ('tx_pause_storm_error_events', 'tx_pause_storm_warning_events', 'rx_packets_phy')
    group by target, netdev
),

ports as (
    -- A bond counts on its members. A counter that a NIC does not have shows nothing.
    select
        p.target,
        p.device,
        p.port,
        any_known(n.has_errors or n.has_warnings) as has_it,
        any_known(case when n.has_errors then n.errors > 0 else n.has_errors end) as has_given_up,
        any_known(case when n.has_warnings then n.warnings > 0 else n.has_warnings end) as was_warned,
        sum(n.errors) as errors, -- null: for the words
        sum(n.warnings) as warnings, -- null: for the words
        max(n.seconds) as seconds
    from port_link as p
    left join netdevs as n on n.target = p.target and n.netdev = p.netdev
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    case when e.has_given_up then 'watchdog stopped the pause ' else 'watchdog warned ' end
    || case
        when case when e.has_given_up then e.errors else e.warnings end = 1 then 'once'
        else case when e.has_given_up then e.errors else e.warnings end || ' times'
    end || printf(' in %.0f s', e.seconds) as observed,
    'never' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> '' and e.has_it as applies,
    e.has_given_up or e.was_warned as fault,
    p.netdev as detail,
    p.inferred,
    case when e.has_given_up is false then 'medium' else 'high' end as severity
from port_scope as p
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
