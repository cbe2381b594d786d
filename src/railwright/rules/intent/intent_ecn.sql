/* +++
id = "intent-ecn"
aliases = ["INTENT.ecn"]
title = "DCQCN off for RoCE data"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "ecn_priority.enabled"]
message = "{subject} has {observed}; intent is {expected}"
action = "set"
setting = "nic.ecn"
covers = ["QOS-05"]
since = "0.2"
sources = ["review QOS-05", "reference B3", "incident I-070", "docs.nvidia.com: DOCA, ECN"]

[uses]
"site.ecn" = "not checked unless the site file sets it"
"site.data_priority" = "not checked unless the site file sets the data priority"
"site.programmable_cc" = "if true, a program decides, not these settings"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The receiver's notification point turns ECN marks into CNPs; the sender's reaction point slows down when CNPs arrive. If
either is off, the loop is open: no sender slows down, and what remains is PFC that spreads, or loss.

## What to do
Run `echo 1 > /sys/class/net/NETDEV/ecn/roce_rp/enable/N` and the same under `roce_np`, for **all eight** N: firmware 45
and later treats all priorities alike (`cc-priorities-not-aligned`). It takes effect immediately; whether it survives a
driver reload is not documented. To persist it, set `ROCE_CC_PRIO_MASK_P1=255` in firmware, which takes effect at the next
firmware reset.

## Exceptions
If congestion control needs no CNPs (based on round-trip time), leave `ecn` out of the site file. Only the vendor's driver
package exposes these settings: with the in-kernel driver the check is inconclusive. On a bond, the members are checked:
one wrong member is enough for a finding. `ecn = false` means that NICs need not react, not that they must not.
*/
with switches as (
    select
        e.target,
        e.netdev,
        max(e.enabled) filter (e.role = 'rp') as reacts,
        max(e.enabled) filter (e.role = 'np') as notifies
    from ecn_priority as e
    inner join site as s on s.data_priority = e.priority
    group by e.target, e.netdev
)

select
    p.target,
    p.device,
    p.port,
    'reaction point ' || case when e.reacts then 'on' when not e.reacts then 'off' else 'unknown' end
    || ', notification point ' || case when e.notifies then 'on' when not e.notifies then 'off' else 'unknown' end as observed,
    'both on for priority ' || s.data_priority as expected,
    s.ecn is true and s.data_priority is not null and s.programmable_cc is not true
    and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    not (e.reacts and e.notifies) as fault,
    p.netdev as detail,
    p.inferred
from port_link as p
cross join site as s
left join switches as e on e.target = p.target and e.netdev = p.netdev
