/* +++
id = "QOS-09"
title = "QoS that was set is gone since the last boot"
severity = "low"
subject = "port"
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role", "host.boot_id", "before.host.boot_id",
  "qos_port.trust", "before.qos_port.trust", "qos_priority.pfc_enabled", "before.qos_priority.pfc_enabled",
]
message = "{subject} has {observed} since it booted, before it had {expected}"
baseline = true
since = "0.2"
sources = [
  "review QOS-09, EFFECTS", "reference B3",
  "judgement: only a fall back to the driver's defaults is a loss",
]

[uses]
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Trust and PFC live in the driver and are lost at every boot. Somebody set them by hand, or what was to set them again did not
run: the next boot will take them from the next host.

## What to do
Find who owns the setting (boot unit, udev rule, network configuration, NIC operator) and why it did not run in this boot.
Then set it again; **changing PFC bounces the link**, so drain first.

## When it is wrong
Where QoS was taken off on purpose, together with a reboot. Only a fall back to the defaults (trust pcp, no PFC) counts:
another value than before was set by somebody. A host that has not booted between the two snapshots is not judged. The QoS of
a bond is that of its members and is not read from the bond: such a port is unknown.
*/
with pfc as (
    select
        target,
        netdev,
        mask_known(pfc_enabled, priority) as mask
    from qos_priority
    group by target, netdev
),

pfc_before as (
    select
        target,
        netdev,
        mask_known(pfc_enabled, priority) as mask
    from before.qos_priority
    group by target, netdev
),

pair as (
    select
        p.*,
        h.boot_id <> g.boot_id as is_booted,
        q.trust,
        r.trust as trust_before,
        m.mask,
        n.mask as mask_before,
        q.trust is not null and r.trust is not null and m.mask is not null and n.mask is not null as is_known
    from port_scope as p
    left join host as h on h.target = p.target
    left join before.host as g on g.target = p.target
    left join qos_port as q on q.target = p.target and q.netdev = p.netdev
    left join before.qos_port as r on r.target = p.target and r.netdev = p.netdev
    left join pfc as m on m.target = p.target and m.netdev = p.netdev
    left join pfc_before as n on n.target = p.target and n.netdev = p.netdev
)

select
    target,
    device,
    port,
    'trust ' || trust || ', PFC on ' || case mask
        when 0 then 'none'
        else array_to_string([x for x in range(8) if mask & (1 << x) <> 0], ',')
    end as observed,
    'trust ' || trust_before || ', PFC on ' || case mask_before
        when 0 then 'none'
        else array_to_string([x for x in range(8) if mask_before & (1 << x) <> 0], ',')
    end as expected,
    link_layer = 'Ethernet' and role = 'compute' and netdev <> '' and is_booted as applies,
    case when is_known then (trust_before = 'dscp' and trust = 'pcp') or (mask_before <> 0 and mask = 0) end as fault,
    netdev as detail,
    inferred
from pair
