/* +++
id = "QOS-05"
title = "Only one half of ECN is on for a lossless priority"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.pfc_mask", "ecn_priority.enabled",
]
message = "{subject} {observed}, needed is {expected}"
setting = "nic.ecn"
implied_by = ["INTENT.ecn"]
since = "0.2"
sources = ["review QOS-05, G-FABRIC, G-PCC", "review QOS-05", "reference B3", "incident I-070"]

[uses]
"site.fabric_mode" = "pfc-only and InfiniBand designs have no ECN loop"
"site.ecn" = "where the site says that NICs need not react, nothing is judged"
"site.programmable_cc" = "then a program decides, not these switches"
"port_scope.pci" = "asked for the card's own switch"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, which older cards do not offer: the same"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The receiver's notification point turns marks into CNPs, the sender's reaction point slows down for them, and every host is
both. A port that has one without the other opens the loop in one direction: PFC then has to do alone what ECN was set up for.

## What to do
Set both alike below `/sys/class/net/NETDEV/ecn/roce_rp/enable/` and `roce_np/enable/`, for **all eight** priorities: firmware
from 45 on acts on all of them alike (N-02). It takes hold at once and is lost when the driver starts again.

## When it is wrong
Congestion control by round-trip time needs no CNPs: say `programmable_cc = true` or `ecn = false`; a card that runs a program
(`USER_PROGRAMMABLE_CC`) is left out by itself. Without a profile the rule never says that ECN is off: both off is in order.
Only the vendor's driver package shows these switches: with the kernel's own driver a port with PFC is unknown. The QoS of a
bond is that of its members: one that is wrong is enough.
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
            then 'only reacts on ' || priorities_of(p.only_reacts) end,
        case when p.only_notifies <> 0
            then 'only notifies on ' || priorities_of(p.only_notifies) end
    ) as observed,
    'both or none' as expected,
    s.ecn is not false and s.programmable_cc is not true and (u.current_code = 1) is not true and (s.fabric_mode is null or s.fabric_mode <> 'pfc-only')
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and p.pfc_mask <> 0 as applies,
    case when (p.only_reacts | p.only_notifies) <> 0 then true when p.known = p.pfc_mask then false end as fault,
    p.netdev as detail,
    p.inferred
from loop as p
cross join site as s
left join nic_parameter as u
    on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
