/* +++
id = "switch-drops-lossless"
aliases = ["SWQ-10"]
title = "Switch drops in a lossless class"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.queue", "port_class.priority_group",
  "switch_counter.value", "before.switch_counter.value",
]
message = "{subject} dropped {observed}"
action = "ask"
implied_by = ["switch-pause-storm", "switch-no-headroom", "switch-headroom-small", "switch-early-drop", "switch-pfc-mismatch"]
baseline = true
since = "0.3"
sources = ["review SWQ-10, G-WINDOW", "incident I-112, I-115, I-060"]

[uses]
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A class with PFC must never drop: RoCE relies on it and recovers by retransmission. Drops in a queue happen at egress. Drops
in a priority group happen at ingress, where the headroom was not enough.

## What to do
Queue drops: check for early drops (`switch-early-drop`), an egress pool that is too small (`switch-egress-pool-small`) and
a watchdog that acted (`switch-pause-storm`). Priority group drops: check the headroom (`switch-no-headroom`,
`switch-headroom-small`) and whether the link partner obeys pauses (`link-lossless-differs`).

## Exceptions
Packets dropped because the link went down, or while the switch was being configured, count too. If the counters decreased
between the snapshots, they were cleared and the check is inconclusive.
*/
with drops as (
    select
        c.target,
        c.port,
        any_known(c.pfc) as is_lossless,
        any_known(c.pfc and r.rise > 0) as fault,
        string_agg(
            r.rise || ' packets (' || case r.counter when 'group_drops' then 'priority group ' else 'queue ' end || r.number || ')',
            ', ' order by r.counter, r.number
        ) filter (c.pfc and r.rise > 0) as words,
        max(r.seconds) as seconds
    from port_class as c
    left join switch_rise as r
        on r.target = c.target and r.port = c.port
        and ((r.counter in ('queue_drops', 'red_drops', 'voq_drops') and r.number = c.queue) or (r.counter = 'group_drops' and r.number = c.priority_group))
    group by c.target, c.port
),

-- Without the queue or the group of a class its counter is unknown.
placed as (
    select target, port, all_known(not pfc or (queue is not null and priority_group is not null)) as is_placed
    from port_class
    group by target, port
)

select
    e.target,
    e.port,
    d.words as observed,
    'none' as expected,
    e.kind = 'switch' and e.role in ('compute', 'fabric') and d.is_lossless as applies,
    case when d.fault or p.is_placed then d.fault end as fault,
    printf('in %.0f s', d.seconds) as detail,
    e.inferred
from end_scope as e
left join drops as d on d.target = e.target and d.port = e.port
left join placed as p on p.target = e.target and p.port = e.port
where e.kind = 'switch' or e.kind is null
