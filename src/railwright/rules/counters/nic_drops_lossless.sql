/* +++
id = "nic-drops-lossless"
aliases = ["N-04"]
title = "NIC drops in a lossless class"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev_counter.value", "before.netdev_counter.value",
  "host.boot_id", "before.host.boot_id",
]
message = "{subject} dropped {observed} of a lossless class"
action = "ask"
implied_by = ["nic-pause-storm"]
baseline = true
since = "0.2"
sources = [
  "review N-04, G-FABRIC, G-WINDOW", "mlx5 counters.rst (rx_prioP_discards, rx_prioP_buf_discard)",
  "judgement: a priority with PFC on that drops contradicts itself, whatever the profile; rx_discards_phy also counts lossy ones",
]

[uses]
"site.pfc_mask" = "which classes are lossless; if the site file does not set it, those with PFC on"
"netdev_qos.pfc_mask" = "used where the site file does not set it"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A lossless class must never drop packets: RoCE relies on it and recovers badly. If the NIC's receive buffer overflows
anyway, its pause came too late or was not honoured.

## What to do
1. Check that PFC is on for that priority at *both* link partners, that the switch's headroom fits the cable, and that the
   NIC's receive buffer and cable length (`mlnx_qos -i NETDEV`) are correct. Changing PFC bounces the link: drain first, one
   rail at a time.
2. Find out why the host is slow: `pcie-back-pressure`, `pcie-link-downtrained`, `pcie-link-narrow` and
   `pcie-below-port-rate`.

## Exceptions
If the priority is lossless on the NIC by mistake, correct that setting instead. Drops at the moment when PFC was switched
on, or when the switch rebooted, are expected. Both snapshots must be from the same boot.
*/
-- The eighth character is the priority.
with drops as (
    select
        n.target,
        n.netdev,
        try_cast(n.counter[8] as integer) as priority,
        sum_known(n.rise) as dropped,
        max(n.seconds) as seconds
    from netdev_rise as n
    cross join site as s
    where (n.counter like 'rx_prio__discards' or n.counter like 'rx_prio__buf_discard')
        and (s.pfc_mask is null or (s.pfc_mask >> try_cast(n.counter[8] as integer)) & 1 = 1)
    group by n.target, n.netdev, priority
),

priorities as (
    select
        p.target,
        p.device,
        p.port,
        d.priority,
        d.dropped,
        d.seconds,
        case
            when s.pfc_mask is not null then (s.pfc_mask >> d.priority) & 1 = 1
            else (q.pfc_mask >> d.priority) & 1 = 1
        end as is_lossless
    from port_link as p
    cross join site as s
    left join drops as d on d.target = p.target and d.netdev = p.netdev
    left join netdev_qos as q on q.target = d.target and q.netdev = d.netdev
),

ports as (
    select
        target,
        device,
        port,
        any_known(is_lossless) as is_lossless,
        any_known(is_lossless and dropped > 0) as fault,
        string_agg(dropped || ' packets (priority ' || priority || ')', ', ' order by priority)
            filter (is_lossless and dropped > 0) as words,
        max(seconds) as seconds
    from priorities
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    d.words as observed,
    'none' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> ''
        and (s.pfc_mask is null or s.pfc_mask <> 0) and d.is_lossless as applies,
    d.fault,
    printf('in %.0f s', d.seconds) as detail,
    p.inferred
from port_scope as p
cross join site as s
left join ports as d on d.target = p.target and d.device = p.device and d.port = p.port
