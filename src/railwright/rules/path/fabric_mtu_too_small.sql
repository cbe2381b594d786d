/* +++
id = "MTU-05"
title = "A link between switches takes smaller packets than hosts send"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.mtu"]
message = "{subject} has MTU {observed}, needed is {expected}"
setting = "switch.mtu"
covers = ["MTU-03"]
on_path = {packets = ["data", "other"], sides = ["in", "out"]}
since = "0.3"
sources = ["review MTU-03", "judgement: what most compute ports have is what the fabric must carry, where the site does not say it"]

[uses]
"site.switch_mtu" = "what the site wants of its switch ports"
"site.netdev_mtu" = "what the site wants of its hosts; where nobody says it, what most compute ports have"
"end_scope.inferred" = "of no meaning between switches"
+++
## Why it matters
One link of many with a smaller MTU takes its share of the large packets and throws them away: some pairs of hosts cannot talk, and only as
long as the hash sends them there.

## What to do
Raise the MTU at both ends of the link. Most switches take the port down for a moment.

## When it is wrong
Where the site says what it wants of switch ports, that counts. Where no host was read and the site says nothing, nothing is judged.
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
    needed || ' at least' as expected,
    kind = 'switch' and role = 'fabric' and is_judged as applies,
    mtu < needed as fault,
    inferred
from ends
