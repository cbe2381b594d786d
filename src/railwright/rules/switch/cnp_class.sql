/* +++
id = "SWQ-15"
title = "A switch lets notifications wait behind data, or pauses them"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.system", "end_scope.cnp_class", "end_scope.pfc_mask"]
message = "{subject} has CNPs {observed}, needed is {expected}"
setting = "switch.cnp_queue"
implied_by = ["SWQ-02", "SWQ-01"]
covers = ["N-03", "QOS-06"]
since = "0.3"
sources = ["review N-03, QOS-06", "reference B1.1, B3 (switch defaults: CNP strict on priority 6)"]

[uses]
"port_class.scheduler" = "of EOS mostly not read: then only class and PFC are judged"
"site.cnp_dscp" = "nothing is known of CNPs where the site does not say their DSCP"
"site.ecn" = "where nobody reacts to marks there are no CNPs"
"end_scope.data_class" = "asked where the site says the DSCP of data"
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
A notification must reach the sender while the queue is still full. In the class of data it waits in that very queue, in a class with PFC it
is stopped with it, and in one that is not served first it waits behind best effort.

## What to do
Send the DSCP of CNPs to a class of its own without PFC whose queue is strict (Cumulus and Onyx do so in their RoCE mode; SONiC: `DSCP_TO_TC_MAP` and `SCHEDULER`;
EOS: `qos map dscp`, `no bandwidth`, `priority strict` on the transmit queue).

## When it is wrong
A site whose congestion control needs no CNPs says `ecn = false`. A large weight in place of a strict queue may do as well: waive it.
*/
with ends as (
    select
        e.*,
        c.scheduler,
        (e.pfc_mask >> e.cnp_class) & 1 = 1 as is_paused,
        e.cnp_class <> -1 and e.cnp_class = e.data_class as is_with_data,
        case when e.system = 'eos' and c.scheduler is null then false when e.system is not null then c.scheduler <> 'strict' end as is_not_first
    from end_scope as e
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = e.cnp_class
    where e.kind = 'switch' or e.kind is null
)

select
    e.target,
    e.port,
    concat_ws( -- null: only what is so
        ', ',
        case when e.cnp_class = -1 then 'in no class' end,
        case when e.is_with_data then 'in the class of data (' || e.cnp_class || ')' end,
        case when e.is_paused and not coalesce(e.is_with_data, false) then 'in class ' || e.cnp_class || ' with PFC' end, -- null: only for the words
        case when e.is_not_first then 'in a queue that is ' || case e.scheduler when '' then 'not scheduled' else e.scheduler end end
    ) as observed,
    'a strict queue without PFC' as expected,
    s.cnp_dscp is not null and (s.ecn is null or s.ecn) and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    case when e.cnp_class = -1 then true else e.is_paused or e.is_not_first or coalesce(e.is_with_data, false) end as fault, -- null: only where data's DSCP is said
    e.inferred
from ends as e
cross join site as s
