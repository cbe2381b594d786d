/* +++
id = "cable-unlike-plan"
aliases = ["TOP-02"]
title = "Cabling does not match the plan"
severity = "high"
subject = "end"
peers = true
both_ends = true
needs = ["end_scope.kind", "end_scope.peer", "end_scope.peer_port"]
message = "{subject} is connected to {observed}; expected {expected}"
action = "reseat"
implied_by = ["cable-wrong-rail", "cable-wrong-plane", "port-down"]
since = "0.3"
sources = [
  "review TOP-02", "incident I-132", "judgement: a link between switches that is missing is medium; each cable is named at one of its ends, the one nearer to hosts",
]

[grades]
high = "a planned link of a compute port is missing or goes elsewhere"
medium = "another planned link is missing or goes elsewhere"
low = "a link that is not in the plan"

[uses]
"target.kind" = "the run itself records which machines are switches"
"target.status" = "the collector itself records which machines it reached"
"planned_link.peer" = "the plan; without one nothing is checked"
"planned_link.peer_port" = "the plan"
"planned_link.rail" = "a link of a rail belongs to a compute port, even without an LLDP neighbor"
"end_scope.device" = "a plan may name a host's port by its RDMA device"
"end_scope.peer_kind" = "for links that are not in the plan, and for neighbors that can be compared by name only"
"end_scope.role" = "the severity, and which links the plan does not cover"
"end_scope.inferred" = {purpose = "severity"}
"switch_place.tier" = "at which end a cable between switches is reported"
+++
## Why it matters
A cable in the wrong place displaces another one: bandwidth between two switches is missing, paths get longer, and anyone
who troubleshoots by the plan looks at the wrong port.

## What to do
1. Trace the cable from the reported port.
2. If the plan is out of date, correct the plan.
3. Otherwise re-cable in a maintenance window: the links go down.

## Exceptions
Expected while racks are being rebuilt. A machine that was not collected may name its port by an address or an alias: then
only the machine is compared, and the port is inconclusive. A port without a neighbor is inconclusive if the machine that the
plan has there did not answer: without power it announces nothing. An LLDP neighbor that was not collected is compared by its name
alone, since its ports may have other names than in the plan.
*/
with plan as (
    select count(target) > 0 as is_there from planned_link
),

read_machine as (
    select distinct target from end_scope where port <> '*'
),

ends as (
    select
        e.target,
        e.port,
        e.kind,
        e.role,
        e.inferred,
        e.peer,
        e.peer_port,
        e.peer_kind,
        o.device as peer_device,
        p.peer as planned_peer,
        p.peer_port as planned_port,
        p.target is not null as is_planned,
        p.rail,
        true as has_port
    from end_scope as e
    left join end_plan as p on p.target = e.target and p.port = e.port
    left join end_scope as o on o.target = e.peer and o.port = e.peer_port
    where e.port <> '*'
    union all
    -- Planned ports that the machine does not have, or that were not read.
    select
        p.target,
        p.port,
        t.kind,
        null,
        false,
        case when k.target is not null then '' end,
        case when k.target is not null then '' end,
        '',
        null,
        p.peer,
        p.peer_port,
        true,
        p.rail,
        case when k.target is not null then false end
    from planned_link as p
    inner join target as t on t.target = p.target
    left join read_machine as k on k.target = p.target
    left join (select target, port from end_scope union all select target, device from end_scope where device <> '') as e
        on e.target = p.target and e.port = p.port
    where e.target is null
),

placed as (
    select
        e.*,
        case
            when e.kind = 'host' then true
            when e.kind = 'switch' then
                case
                    when t.target is null then true
                    when t.kind = 'host' then t.status not in ('reached', 'incomplete') -- null: the collector always records it
                    else (coalesce(here.tier, 99), e.target) < (coalesce(there.tier, 99), t.target) -- null: a switch without a tier comes last
                end
        end as is_here,
        e.peer = e.planned_peer or (e.peer_kind = 'stranger' and split_part(e.peer, '.', 1) = split_part(e.planned_peer, '.', 1)) as is_same_machine,
        case
            when e.peer_port = e.planned_port or (e.peer_kind = 'stranger' and e.peer_port <> '') or e.peer_device = e.planned_port then true
            -- A machine that was not read may name its ports in a way (an address, an alias) that cannot be translated.
            when e.peer = '' or (r.target is not null and e.peer_port is not null) then false
        end as is_same_port,
        -- A machine without power announces nothing, wherever its cables are.
        e.peer = '' and e.has_port and coalesce(t.status not in ('reached', 'incomplete'), false) as is_partner_silent -- null: not collected at all
    from ends as e
    left join target as t on t.target = case when e.is_planned then e.planned_peer else e.peer end
    left join read_machine as r on r.target = e.peer
    left join switch_place as here on here.target = e.target
    left join switch_place as there on there.target = t.target
)

select
    p.target,
    p.port,
    case
        when not p.has_port then 'nothing (the port does not exist)'
        when p.peer = '' then 'nothing'
        when not p.is_planned then 'a link partner'
        when not p.is_same_machine then 'another machine'
        when not p.is_same_port then 'another port of the planned machine'
        when p.is_same_machine and p.is_same_port then 'the planned port'
    end as observed,
    case when p.is_planned then 'the planned port' else 'no link' end as expected,
    plan.is_there and p.is_here
        and case
            when p.is_planned then true
            when p.peer = '' then false
            else p.peer_kind in ('host', 'switch') and p.role in ('compute', 'storage', 'fabric')
        end as applies,
    case
        when p.is_partner_silent then null
        when p.is_planned then not (p.is_same_machine and p.is_same_port)
        when p.peer is not null then true
    end as fault,
    concat_ws(', ',
        case when p.peer <> '' then p.peer || ':' || p.peer_port end,
        'planned ' || case when p.is_planned then p.planned_peer || ':' || p.planned_port end
    ) as detail,
    p.inferred,
    case when p.is_partner_silent then 'partner_silent' end as reason,
    case
        when not p.is_planned then 'low'
        when p.role = 'compute' or p.rail is not null then 'high'
        else 'medium'
    end as severity
from placed as p
cross join plan
