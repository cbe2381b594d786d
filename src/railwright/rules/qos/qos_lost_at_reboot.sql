/* +++
id = "QOS-09"
title = "QoS that was set is gone since the last boot"
severity = "low"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role", "host.boot_id", "before.host.boot_id",
  "netdev_qos.trust", "before.netdev_qos.trust", "netdev_qos.pfc_mask", "before.netdev_qos.pfc_mask",
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
a bond is that of its members: one that is wrong is enough.
*/
with pair as (
    select
        p.*,
        h.boot_id <> g.boot_id as is_booted,
        b.trust as trust_before,
        b.pfc_mask as mask_before,
        p.trust is not null and b.trust is not null and p.pfc_mask is not null and b.pfc_mask is not null as is_known
    from port_qos as p
    left join host as h on h.target = p.target
    left join before.host as g on g.target = p.target
    left join before.netdev_qos as b on b.target = p.target and b.netdev = p.netdev
)

select
    target,
    device,
    port,
    'trust ' || trust || ', PFC on ' || priorities_of(pfc_mask) as observed,
    'trust ' || trust_before || ', PFC on ' || priorities_of(mask_before) as expected,
    link_layer = 'Ethernet' and role = 'compute' and netdev <> '' and is_booted as applies,
    case when is_known then (trust_before = 'dscp' and trust = 'pcp') or (mask_before <> 0 and pfc_mask = 0) end as fault,
    netdev as detail,
    inferred
from pair
