/* +++
id = "host-mtu-above-switch"
aliases = ["MTU-04"]
title = "Host MTU above switch port MTU"
severity = "high"
subject = "end"
peers = true
both_ends = true
needs = ["end_scope.has_switches", "end_scope.kind", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble", "end_scope.cohort", "end_scope.mtu"]
message = "{subject} has MTU {observed}; its link partner has {expected}"
action = "set"
setting = "link.mtu"
covers = ["MTU-03"]
on_path = {packets = ["data", "other"], sides = ["in", "out"]}
since = "0.3"
sources = [
  "review MTU-03",
  "judgement: the end that is not as wanted is named; without a wish the one that is unlike its cohort; without either both",
]

[uses]
"end_scope.peer" = "without a neighbor nothing is checked, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"site.netdev_mtu" = "shows which end is wrong"
"site.switch_mtu" = "shows which end is wrong"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The switch port silently drops packets that are too large for it: connections open, small messages pass, large ones vanish.

## What to do
If the host's MTU matches intent, raise the MTU of the switch port. Otherwise lower the host's MTU, which restarts the
device's queues. When both are to be raised, raise the switch port first.

## Exceptions
Sizes are compared without the link-layer header. A switch's MTU may be larger than that of its hosts, and usually is.
*/
with usual as (
    select
        cohort,
        usual_of(mtu) as mtu
    from grouped_end
    group by cohort
),

pairs as (
    select
        p.*,
        case p.kind when 'host' then p.mtu > p.other_mtu when 'switch' then p.other_mtu > p.mtu end as is_larger,
        blame(
            p.mtu, p.other_mtu,
            case when p.kind = 'host' then s.netdev_mtu else s.switch_mtu end,
            case when p.kind = 'host' then s.switch_mtu else s.netdev_mtu end,
            u.mtu, o.mtu
        ) as whom
    from end_pair as p
    cross join site as s
    left join usual as u on u.cohort = p.cohort
    left join usual as o on o.cohort = p.other_cohort
)

select
    target,
    port,
    mtu as observed,
    other_mtu as expected,
    has_switches and role in ('compute', 'storage') and peer_kind in ('host', 'switch') as applies,
    case when cohort is not null and kind is not null then is_larger and is_blamed(whom) end as fault,
    'link partner ' || peer || ':' || peer_port
        || case when whom = 'cannot be told' then '; which of the two is wrong is unknown' else '' end as detail,
    inferred
from pairs
