/* +++
id = "switch-egress-pool-small"
aliases = ["SWQ-11"]
title = "Egress lossless pool smaller than ingress pool"
severity = "medium"
subject = "switch"
needs = ["switch_buffer_pool.size_bytes", "switch_buffer_pool.xoff_bytes", "switch_buffer_pool.direction"]
message = "{subject} has {observed} at egress; ingress may hold {expected}"
action = "ask"
setting = "switch.buffer_pool"
preview = true
since = "0.3"
sources = ["review SWQ-11", "incident I-116", "judgement: pools are known by the names that SONiC gives them"]

[uses]
"target.kind" = "the run itself records which machines are switches"
"target.status" = "the run itself records which machines answered"
"switch_buffer_pool.is_unlimited" = "a pool without a limit is not too small"
+++
## Why it matters
A packet that was admitted and accounted at ingress must find room at egress too. If the egress pool is exhausted first,
lossless packets are dropped there, before the ingress headroom is used or a pause is sent.

## What to do
Make the egress lossless pool at least as large as the ingress pool with its headroom. Pool changes can drop traffic or need
a reload of the switch: make them in a maintenance window, with the vendor's template. Never use `config qos reload` of
SONiC: it deletes the site's own settings.

## Exceptions
Several platforms do not account lossless traffic at egress, so any pool size is fine there: waive the finding.
*/
with pools as (
    select
        target,
        max(size_bytes) filter (direction = 'egress') as egress,
        max(size_bytes) filter (direction = 'ingress') as ingress,
        max(xoff_bytes) filter (direction = 'ingress') as xoff,
        bool_or(direction = 'egress' and is_unlimited) as is_unlimited -- null: reported only where it is so
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
