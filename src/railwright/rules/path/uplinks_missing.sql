/* +++
id = "TOP-05"
title = "A switch has fewer uplinks than its peers, or uneven ones"
severity = "medium"
subject = "switch"
peers = true
needs = ["end_scope.facing", "end_scope.is_up", "end_scope.peer", "switch_place.tier", "switch.model"]
message = "{subject} has {observed}, {expected}"
implied_by = ["TOP-02"]
since = "0.3"
sources = [
  "incident I-117, I-075", "judgement: uplinks and oversubscription are counted over links",
  "judgement: switches of one tier and model are built alike; equal-cost routing shares by links, so that uneven links load spines unevenly",
]

[uses]
"target.kind" = "the run itself says which machines are switches"
+++
## Why it matters
Traffic that leaves a leaf is spread over its uplinks. One that is down takes its share away from everybody behind the leaf, and nothing else
shows it: every flow still finds a way.

## What to do
Look at the ports of that switch that hear nobody or are down, and at the other ends of their cables (the cabling plan tells which they are).

## When it is wrong
A leaf of another kind (storage, border) that is built with fewer uplinks from the same model: waive it. Fewer than its peers is said only where
four or more are alike.
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

-- A port whose neighbour was not read may be an uplink.
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

-- Switches of which nobody knows where they stand may belong to any group.
unplaced as (
    select count(*) as switches from switches where tier is null or model is null
),

usual as (
    select
        s.tier,
        s.model,
        usual_of(s.links) as links,
        count(*) + max(o.switches) >= 4 and (count(s.links) < count(*) or max(o.switches) > 0) as is_open
    from switches as s
    cross join unplaced as o
    group by s.tier, s.model
)

select
    s.target,
    s.links || ' uplinks' || case when s.most > s.fewest then ' (' || s.words || ')' else '' end as observed,
    case when s.links < u.links then 'most switches of its kind have ' || u.links else 'as many to each are needed' end as expected,
    case
        when s.links > 0 then true
        when s.links = 0 then case when u.links is not null then u.links > 0 when not u.is_open then false end
    end as applies,
    case when s.links < u.links or s.most > s.fewest then true when u.links is not null or not u.is_open then false end as fault
from switches as s
left join usual as u on u.tier = s.tier and u.model = s.model
