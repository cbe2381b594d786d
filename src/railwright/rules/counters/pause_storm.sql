/* +++
id = "N-07"
title = "The NIC paused the network for long"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} paused the network for long: {observed}"
baseline = true
since = "0.2"
sources = ["review N-07, G-WINDOW", "mlx5 counters.rst (tx_pause_storm_error_events, tx_pause_storm_warning_events)", "incident I-063, I-071"]

[uses]
"port_scope.inferred" = {purpose = "severity"}

[grades]
high = "so long that its watchdog stopped the pause"
medium = "its watchdog has warned and not stepped in yet"
+++
## Why it matters
The host did not take packets for a long time, and the NIC sent pause without a break: senders to it stand still, and with PFC
others behind the same switches, in the end the whole fabric for one such host. Then the NIC's own watchdog stops the pause,
and from there on packets are dropped, also in a lossless class.

## What to do
If it gave up: drain the host, it endangers others. Then look for why it stood still: a hung GPU or driver (Xid, health
messages in the kernel's log), PCIe (N-05, PCI-01 to PCI-03), memory on the wrong socket, a firmware fault. Compare with its
twins. Nothing is to be set on the NIC.

## When it is wrong
A host that crashed or was stopped in a debugger looks the same. Some seconds of pause under many-to-one traffic are how a
lossless fabric works; that it is often, and this host, counts. The counters must be of one boot.
*/
-- An answer that has the packets and not the events is of a NIC without them.
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
    -- A bond counts on its members. A counter that a NIC does not have tells of nothing.
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
    case when e.has_given_up then 'gave up ' else 'was warned ' end
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
