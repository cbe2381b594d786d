/* +++
id = "ecn-half-enabled"
aliases = ["QOS-05"]
title = "DCQCN only half enabled"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.pfc_mask", "ecn_priority.enabled",
]
message = "{subject} {observed}; expected {expected}"
action = "set"
setting = "nic.ecn"
implied_by = ["intent-ecn"]
since = "0.2"
sources = ["review QOS-05, G-FABRIC, G-PCC", "review QOS-05", "reference B3", "incident I-070"]

[uses]
"site.fabric_mode" = "pfc-only and InfiniBand designs have no ECN loop"
"site.ecn" = "if the site file sets it to false, NICs need not react and nothing is checked"
"site.programmable_cc" = "if true, a program decides, not these settings"
"port_scope.pci" = "needed for the card's own setting"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, which older cards do not offer: likewise"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The receiver's notification point turns ECN marks into CNPs, the sender's reaction point slows down when CNPs arrive, and
every host is both. A port that has one without the other opens the loop in one direction: PFC then has to do alone what
ECN was configured for.

## What to do
Set both to the same value under `/sys/class/net/NETDEV/ecn/roce_rp/enable/` and `roce_np/enable/`, for **all eight**
priorities: firmware 45 and later treats them all alike (`cc-priorities-not-aligned`). It takes effect immediately and is
lost at reboot; whether it survives a driver reload is not documented.

## Exceptions
Congestion control based on round-trip time needs no CNPs: set `programmable_cc = true` or `ecn = false` in the site file.
A card that runs a program (`USER_PROGRAMMABLE_CC`) is left out automatically. Without a profile, the rule never reports
that ECN is off: both off is fine. Only the vendor's driver package exposes these settings: with the in-kernel driver, a
port with PFC is inconclusive. On a bond, the members are checked: one wrong member is enough for a finding.
*/
with ecn as (
    select
        target,
        netdev,
        bit_or(case when enabled and role = 'rp' then 1 << priority else 0 end) as reacts, -- null: in neither of the two
        bit_or(case when enabled and role = 'np' then 1 << priority else 0 end) as notifies, -- null: in neither of the two
        bit_or(case when not enabled and role = 'rp' then 1 << priority else 0 end) as reacts_not, -- null: in neither of the two
        bit_or(case when not enabled and role = 'np' then 1 << priority else 0 end) as notifies_not -- null: in neither of the two
    from ecn_priority
    group by target, netdev
),

loop as (
    select
        p.*,
        p.pfc_mask & e.reacts & e.notifies_not as only_reacts,
        p.pfc_mask & e.notifies & e.reacts_not as only_notifies,
        p.pfc_mask & (e.reacts | e.reacts_not) & (e.notifies | e.notifies_not) as known
    from port_qos as p
    left join ecn as e on e.target = p.target and e.netdev = p.netdev
)

select
    p.target,
    p.device,
    p.port,
    concat_ws(
        ', ',
        case when p.only_reacts <> 0
            then 'has only the reaction point on for priorities ' || priorities_of(p.only_reacts) end,
        case when p.only_notifies <> 0
            then 'has only the notification point on for priorities ' || priorities_of(p.only_notifies) end
    ) as observed,
    'both or neither' as expected,
    s.ecn is not false and s.programmable_cc is not true and (u.current_code = 1) is not true and (s.fabric_mode is null or s.fabric_mode <> 'pfc-only')
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and p.pfc_mask <> 0 as applies,
    case when (p.only_reacts | p.only_notifies) <> 0 then true when p.known = p.pfc_mask then false end as fault,
    p.netdev as detail,
    p.inferred
from loop as p
cross join site as s
left join nic_parameter as u
    on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
