/* +++
id = "uplinks-missing"
aliases = ["TOP-05"]
title = "Uplinks missing or uneven"
severity = "medium"
subject = "switch"
peers = true
needs = ["end_scope.facing", "end_scope.is_up", "end_scope.peer", "switch_place.tier", "switch.model"]
message = "{subject} has {observed}; {expected}"
action = "reseat"
implied_by = ["cable-unlike-plan"]
since = "0.3"
sources = [
  "incident I-117, I-075", "judgement: uplinks and oversubscription are counted over links",
  "judgement: switches of one tier and model are built alike; equal-cost routing shares by links, so that uneven links load spines unevenly",
]

[uses]
"target.kind" = "the run itself records which machines are switches"
"planned_link.peer" = "exempts what the cabling plan has; without a plan nothing is exempt"
"end_scope.speed_mbps" = {purpose = "cost"}
+++
## Why it matters
Traffic that leaves a leaf is spread over its uplinks. One that is down reduces the bandwidth of everything behind the leaf,
and nothing else shows it: every flow still finds a path.

## What to do
Check the ports of that switch that are down or have no LLDP neighbor, and the link partners of their cables (the cabling
plan lists them).

## Exceptions
A switch whose uplinks are exactly those of the cabling plan is not reported, fewer or uneven as they may be. Without a plan
a leaf of another kind (storage, border) that is built so by design is reported: put it into the plan, or waive it. Fewer
uplinks than the peers are reported only if four or more are alike; with fewer peers the check of the one that has fewer is
inconclusive.
*/
with ups as (
    select target, peer, count(*) as links
    from end_scope
    where facing = 'up' and is_up
    group by target, peer
),

spread as (
    select
        target,
        sum(links)::BIGINT as links, -- null: counts are never NULL
        max(links) as most,
        min(links) as fewest,
        string_agg(peer || ' ' || links, ', ' order by links, peer) as words
    from ups
    group by target
),

planned as (
    select l.target, l.peer, count(*) as links
    from planned_link as l
    inner join switch_place as o on o.target = l.target
    left join switch_place as p on p.target = l.peer
    left join end_scope as e on e.target = l.target and e.port = l.port
    -- A spine that did not answer has no place; the leaf's own port tells where it goes.
    where p.tier > o.tier or (p.target is null and e.facing = 'up')
    group by l.target, l.peer
),

built as (
    select
        p.target,
        sum(p.links)::BIGINT as links, -- null: counts are never NULL
        all_known(u.links is not null and u.links = p.links) as is_whole
    from planned as p
    left join ups as u on u.target = p.target and u.peer = p.peer
    group by p.target
),

speeds as (
    select target, mode_known(speed_mbps) as mbps
    from end_scope
    where facing = 'up' and is_up
    group by target
),

-- A port whose neighbor was not read may be an uplink.
known as (
    select target, all_known(facing is not null and (facing <> 'up' or (is_up is not null and peer is not null))) as is_known
    from end_scope
    group by target
),

models as (
    select target, max(model) as model from switch group by target
),

switches as (
    select
        t.target,
        p.tier,
        m.model,
        case when k.is_known and p.tier is not null and m.model is not null then coalesce(s.links, 0) end as links, -- null: none of its ports faces up
        s.most,
        s.fewest,
        s.words
    from target as t
    left join switch_place as p on p.target = t.target
    left join models as m on m.target = t.target
    left join known as k on k.target = t.target
    left join spread as s on s.target = t.target
    where t.kind = 'switch'
),

-- Switches whose place is unknown may belong to any group.
unplaced as (
    select count(*) as switches from switches where tier is null or model is null
),

usual as (
    select
        s.tier,
        s.model,
        usual_of(s.links) as links,
        -- Too few are alike to say what is usual, and another one has more.
        case when usual_of(s.links) is null then max(s.links) end as most,
        count(*) + max(o.switches) >= 4 and (count(s.links) < count(*) or max(o.switches) > 0) as is_open
    from switches as s
    cross join unplaced as o
    group by s.tier, s.model
)

select
    s.target,
    s.links || case when s.links = 1 then ' uplink' else ' uplinks' end || case when s.most > s.fewest then ', ' || s.fewest || ' to ' || s.most || ' to each switch' else '' end as observed,
    case when s.links < u.links then 'most switches of its kind have ' || u.links else 'the number to each should be the same' end as expected,
    case
        when s.links > 0 then true
        when s.links = 0 then case when u.links is not null then u.links > 0 when u.most > 0 then true when not u.is_open then false end
    end as applies,
    case
        when b.is_whole and s.links = b.links then false
        when s.links < u.links or s.most > s.fewest then true
        when s.links < u.most then null
        when u.links is not null or not u.is_open then false
    end as fault,
    case when s.most > s.fewest then s.words end as detail,
    case when s.links < u.most then 'few_peers' end as reason,
    case when s.links < u.links then round((u.links - s.links) * v.mbps / 1000, 1) end as cost_gbps
from switches as s
left join usual as u on u.tier = s.tier and u.model = s.model
left join built as b on b.target = s.target
left join speeds as v on v.target = s.target
