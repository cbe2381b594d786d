/* +++
id = "slow-receiver"
aliases = ["QOS-11"]
title = "Slow receiver: host makes its NIC pause"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} paused the network for {observed}"
action = "ask"
implied_by = ["nic-pause-storm", "pcie-link-downtrained", "pcie-link-narrow", "pcie-below-port-rate"]
preview = true
baseline = true
since = "0.2"
sources = [
  "review QOS-11, N-05, G-PCC, G-WINDOW", "mlx5 counters.rst (tx_prioP_pause_duration)", "incident I-063",
]

[uses]
"rdma_counter.value" = "ECN marks: used where the NIC paused and PCIe shows no stall"
"before.rdma_counter.value" = "the same"
"site.programmable_cc" = "under programmable congestion control, ECN mark counters are not evidence"
"port_scope.pci" = "used to look up the card's USER_PROGRAMMABLE_CC"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, which older cards do not have: the same"
"port_scope.inferred" = {purpose = "severity"}

[parameters.most_share]
default = 0.01
unit = "of the time, in one priority"
reason = "review QOS-11"
+++
## Why it matters
The NIC sends pause when the host does not take packets fast enough: the PCIe link, the memory or the IOMMU is slower than
the network. PFC spreads that pause to every sender and to others behind the same switches, and the fabric gets the blame.

## What to do
Change nothing on the switch. Check in this order:
1. PCIe (`pcie-link-downtrained`, `pcie-link-narrow` and `pcie-below-port-rate`, `pcie-back-pressure`,
   `pcie-payload-small`).
2. The IOMMU (`iommu-translates`).
3. Memory on the wrong socket.
4. Too many flows to one host.

## Exceptions
Many-to-one traffic that no NIC could take also causes pause. Its packets are ECN-marked on the way, so marks count against
this finding. The host does not show whether the switch's queue was empty at that moment.
*/
-- Durations are in microseconds, and printed only while PFC is on.
with rises as (
    select target, netdev, counter, rise, seconds
    from netdev_rise
    where counter like 'tx_prio__pause_duration' or counter like 'outbound_pci_stalled____events'
        or counter in ('outbound_pci_buffer_overflow', 'rx_packets_phy')
),

netdevs as (
    select
        target,
        netdev,
        count(*) filter (counter like 'tx_prio%') > 0 as has_pfc,
        any_known(case when counter like 'tx_prio%' then rise > $most_share * 1e6 * seconds else false end) as is_pausing,
        any_known(case when counter like 'outbound%' then rise > 0 else false end) as is_stalled,
        max(rise) filter (counter like 'tx_prio%') / 1e6 as paused_s,
        max(seconds) as seconds
    from rises
    group by target, netdev
),

ports as (
    -- A bond counts on its members.
    select
        p.target,
        p.device,
        p.port,
        any_known(n.has_pfc) as has_pfc,
        any_known(n.is_pausing) as is_pausing,
        any_known(n.is_stalled) as is_stalled,
        max(n.paused_s) as paused_s,
        max(n.seconds) as seconds
    from port_link as p
    left join netdevs as n on n.target = p.target and n.netdev = p.netdev
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    printf('%.1f of %.0f s', e.paused_s, e.seconds)
        || case when e.is_stalled then ', with PCIe stalls' when m.rise = 0 then ', with no ECN-marked packets' else '' end
        as observed,
    printf('%g %% of the time or less', 100 * $most_share) as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and e.has_pfc as applies,
    e.is_pausing and (e.is_stalled or case when s.programmable_cc or u.current_code = 1 then false else m.rise = 0 end) as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
cross join site as s
left join ports as e on e.target = p.target and e.device = p.device and e.port = p.port
left join nic_parameter as u
    on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
left join rdma_rise as m
    on m.target = p.target and m.device = p.device and m.port = p.port and m.counter = 'np_ecn_marked_roce_packets'
