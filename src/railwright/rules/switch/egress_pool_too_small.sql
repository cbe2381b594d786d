/* +++
id = "SWQ-11"
title = "The lossless pool at the exit is smaller than that at the entrance"
severity = "medium"
subject = "switch"
needs = ["switch_buffer_pool.size_bytes", "switch_buffer_pool.xoff_bytes", "switch_buffer_pool.direction"]
message = "{subject} has {observed} at the exit, the entrance may hold {expected}"
setting = "switch.buffer_pool"
preview = true
since = "0.3"
sources = ["review SWQ-11", "incident I-116", "judgement: pools are known by the names that SONiC gives them"]

[uses]
"target.kind" = "the run itself says which machines are switches"
"target.status" = "the run itself says which machines answered"
"switch_buffer_pool.is_unlimited" = "a pool without a limit is not too small"
+++
## Why it matters
A packet that was let in and counted at the entrance must find room at the exit too. Where the pool at the exit ends first, lossless
packets are dropped there, before the headroom at the entrance was used or a pause sent.

## What to do
Make the egress lossless pool at least as large as the ingress pool with its headroom. Pool changes can drop traffic or need a reload of
the QoS configuration: in a maintenance window.

## When it is wrong
Several platforms do not account the exit for lossless traffic, and then give it any size.
*/
with pools as (
    select
        target,
        max(size_bytes) filter (direction = 'egress') as egress,
        max(size_bytes) filter (direction = 'ingress') as ingress,
        max(xoff_bytes) filter (direction = 'ingress') as xoff,
        bool_or(direction = 'egress' and is_unlimited) as is_unlimited -- null: told only where it is so
    from switch_buffer_pool
    where pool like '%\_lossless\_%' escape '\'
    group by target
)

select
    t.target,
    printf('%d KiB', p.egress // 1024) as observed,
    printf('%d KiB', (p.ingress + p.xoff) // 1024) as expected,
    case when p.is_unlimited then false else true end as applies,
    p.egress < p.ingress + p.xoff as fault,
    case when t.status in ('reached', 'incomplete') and p.target is null then 'buffer_pools' end as unread_facts
from target as t
left join pools as p on p.target = t.target
where t.kind = 'switch'
