/* +++
id = "pcie-back-pressure"
aliases = ["N-05"]
title = "PCIe back-pressure at the NIC"
severity = "medium"
subject = "port"
needs = ["port_scope.vendor", "port_scope.role", "port_scope.netdev", "port_scope.rate_gbps", "netdev_counter.value",
    "before.netdev_counter.value", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id", "before.host.boot_id"]
message = "{subject} waited for PCIe: {observed}"
action = "ask"
implied_by = ["pcie-link-downtrained", "pcie-link-narrow", "pcie-below-port-rate"]
preview = true
baseline = true
since = "0.2"
sources = ["review N-05", "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
    "judgement: an idle port proves nothing"]

[uses]
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_load]
default = 0.1
unit = "of the port's rate, over the time between the snapshots"
reason = "judgement: below a tenth of its rate a port does not stress PCIe; without load, no stalls prove nothing"
+++
## Why it matters
`outbound_pci_stalled_rd_events` and `_wr_events` count seconds in which the NIC waited for PCIe credits more than 30 % of
the time. `outbound_pci_buffer_overflow` counts packets dropped because PCIe was slower than the network. The host is then
the bottleneck: it pauses the network or drops packets, and the switch gets the blame.

## What to do
1. Check `pcie-link-downtrained`, `pcie-link-narrow`, `pcie-below-port-rate` and `pcie-payload-small`.
2. Check the IOMMU (`iommu-translates`), relaxed ordering (`pcie-relaxed-ordering-off`) and memory on the wrong socket.

No setting on the NIC itself needs to change.

## Exceptions
Seconds of stall during a storm of small messages are normal on some hosts: look at the share of the time, and compare with
identical hosts. Whether a job was running is unknown: load means what the RDMA port moved.
*/
with changes as (
    select
        n.target,
        n.netdev,
        n.counter,
        case when n.value >= b.value then n.value - b.value end as rise,
        date_diff('second', b.read_at, n.read_at) as seconds
    from netdev_counter as n
    left join before.netdev_counter as b on b.target = n.target and b.netdev = n.netdev and b.counter = n.counter
    where n.counter in ('outbound_pci_stalled_rd_events', 'outbound_pci_stalled_wr_events', 'outbound_pci_buffer_overflow')
),

stalls as (
    select
        target,
        netdev,
        any_known(rise > 0) as has_risen,
        max(seconds) as seconds,
        string_agg(counter || ' +' || rise, ', ' order by counter) filter (rise > 0) as words
    from changes
    group by target, netdev
),

-- Both count words of four bytes.
loads as (
    select
        n.target,
        n.device,
        n.port,
        sum(case when n.value >= b.value then n.value - b.value end) * 32e-9 as gigabits, -- null: counted in sides
        count(*) filter (n.value >= b.value) as sides
    from rdma_counter as n
    left join before.rdma_counter as b
        on b.target = n.target and b.device = n.device and b.port = n.port and b.counter = n.counter
    where n.counter in ('port_xmit_data', 'port_rcv_data')
    group by n.target, n.device, n.port
)

select
    p.target,
    p.device,
    p.port,
    s.words as observed,
    'no stalls, no overflow' as expected,
    p.vendor = '15b3' and p.role = 'compute' and p.netdev <> ''
        and (s.has_risen or (s.seconds > 0 and l.gigabits >= $least_load * p.rate_gbps * s.seconds)) as applies,
    case when h.boot_id = o.boot_id then s.has_risen end as fault,
    'in ' || s.seconds || ' s' as detail,
    p.inferred
from port_scope as p
left join host as h on h.target = p.target
left join before.host as o on o.target = p.target
left join stalls as s on s.target = p.target and s.netdev = p.netdev
left join loads as l on l.target = p.target and l.device = p.device and l.port = p.port and l.sides = 2
