/* +++
id = "fabric-mtu-small"
aliases = ["MTU-05"]
title = "MTU between switches below host MTU"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.mtu"]
message = "{subject} has MTU {observed}; expected {expected}"
action = "set"
setting = "switch.mtu"
covers = ["MTU-03"]
on_path = {packets = ["data", "other"], sides = ["in", "out"]}
since = "0.3"
sources = ["review MTU-03", "judgement: what most compute ports have is what the fabric must carry, where the site does not say it", "SONIC-SWSS: portsorch.cpp does not take a port down for its MTU"]

[uses]
"site.switch_mtu" = "intended MTU of switch ports"
"site.netdev_mtu" = "intended MTU of hosts; without it, the MTU of most compute ports"
"end_scope.inferred" = "has no meaning between switches"
+++
## Why it matters
One of many links with a smaller MTU gets its share of the large packets and drops them. Some pairs of hosts cannot
communicate, and only while the hash sends them over that link.

## What to do
Raise the MTU at both ends of the link. SONiC keeps the port up; on other systems expect it to go
down briefly.

## Exceptions
If the site file sets the MTU of switch ports, that value counts. If no host was collected and the site file sets no MTU,
nothing is checked.
*/
with hosts as (
    select
        count(*) filter (kind = 'host' and role = 'compute') as members,
        count(*) as perhaps,
        mode_known(case when kind = 'host' and role = 'compute' then mtu end) as mtu
    from end_scope
    where (kind = 'host' or kind is null) and (role = 'compute' or role is null)
),

ends as (
    select
        e.*,
        case
            when s.switch_mtu is not null then s.switch_mtu
            when s.netdev_mtu is not null then s.netdev_mtu
            else h.mtu
        end as needed,
        case
            when s.switch_mtu is not null or s.netdev_mtu is not null or h.members > 0 then true
            when h.perhaps = 0 then false
        end as is_judged
    from end_scope as e
    cross join site as s
    cross join hosts as h
    where e.kind = 'switch' or e.kind is null
)

select
    target,
    port,
    mtu as observed,
    'at least ' || needed as expected,
    kind = 'switch' and role = 'fabric' and is_judged as applies,
    mtu < needed as fault,
    inferred
from ends
