/* +++
id = "qos-lost-at-reboot"
aliases = ["QOS-09"]
title = "QoS settings lost at reboot"
severity = "low"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role", "host.boot_id", "before.host.boot_id",
  "netdev_qos.trust", "before.netdev_qos.trust", "netdev_qos.pfc_mask", "before.netdev_qos.pfc_mask",
]
message = "{subject} has {observed} since it booted; before it had {expected}"
action = "set"
setting = "host.boot_unit"
disturbs = "link flap"
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
Trust and PFC that are set at run time are lost at every boot. They were set by hand, or whatever should set them again
did not run. The next host that boots will lose them too.

## What to do
1. Find what owns the setting (boot unit, udev rule, network configuration, NIC operator) and why it did not run in this
   boot.
2. Drain the host: **changing PFC bounces the link**.
3. Set it again.

## Exceptions
If QoS was removed on purpose, together with a reboot, waive the finding. Only a fallback to the defaults (trust pcp, no
PFC) counts: any other new value was set deliberately. A host that has not booted between the two snapshots is not
checked. On a bond, the members are checked: one wrong member is enough for a finding.
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
    'trust ' || trust || ', PFC priorities ' || priorities_of(pfc_mask) as observed,
    'trust ' || trust_before || ', PFC priorities ' || priorities_of(mask_before) as expected,
    link_layer = 'Ethernet' and role = 'compute' and netdev <> '' and is_booted as applies,
    case when is_known then (trust_before = 'dscp' and trust = 'pcp') or (mask_before <> 0 and pfc_mask = 0) end as fault,
    netdev as detail,
    inferred
from pair
