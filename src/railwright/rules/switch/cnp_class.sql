/* +++
id = "SWQ-15"
title = "A switch lets notifications wait behind data, or pauses them"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.cnp_class", "end_scope.pfc_mask", "port_class.scheduler"]
message = "{subject} has CNPs {observed}, needed is {expected}"
setting = "switch.cnp_queue"
implied_by = ["SWQ-19", "SWQ-02", "SWQ-01"]
covers = ["N-03", "QOS-06"]
on_path = {packets = ["CNP"], sides = ["in", "out"]}
since = "0.3"
sources = [
  "review N-03, QOS-06", "reference B1.1, B3 (switch defaults: CNP strict on priority 6)",
  "sonic-buildimage files/build_templates/qos_config.j2: CNPs (DSCP 48) in queue 6 with DWRR weight 14, no queue is strict",
  "Cumulus Linux 5.16, RoCE mode lossy-multi-tc: DSCP 48 in a class with DWRR",
  "judgement: a weighted queue of its own serves CNPs at once unless it is full; strict is asked for where the fabric has it",
]

[uses]
"end_scope.cohort" = "a queue that is not strict is held against those of its kind"
"site.cnp_dscp" = "nothing is known of CNPs where the site does not say their DSCP"
"site.trust" = "where the site goes by PCP, the class of a DSCP tells nothing: unknown"
"site.ecn" = "where nobody reacts to marks there are no CNPs"
"end_scope.data_class" = "asked where the site says the DSCP of data"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A notification must reach the sender while the queue is still full. In the class of data it waits in that very queue, in a class with PFC it
is stopped with it, and in one that is not served first it waits while others are.

## What to do
Send the DSCP of CNPs to a class of its own without PFC, and serve its queue as the other ports do (strict: Cumulus and Onyx do so in their RoCE mode; SONiC: `DSCP_TO_TC_MAP` and `SCHEDULER`;
EOS: `qos map dscp`, `no bandwidth`, `priority strict` on the transmit queue).

## When it is wrong
A site whose congestion control needs no CNPs says `ecn = false`. A weighted queue is in order where it is the fabric's way (SONiC's and
Microsoft's preset): only a port that is not strict while most of its kind are is named.
*/
with ends as (
    select
        e.*,
        c.scheduler,
        (e.pfc_mask >> e.cnp_class) & 1 = 1 as is_paused,
        e.cnp_class <> -1 and e.cnp_class = e.data_class as is_with_data,
        c.scheduler = 'strict' as is_strict,
        c.port is not null as has_queue
    from end_scope as e
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = e.cnp_class
    where e.kind = 'switch' or e.kind is null
),

usual as (
    select
        cohort,
        usual_of(is_strict) as is_strict,
        count(*) >= 4 and count(is_strict) < count(*) as is_open
    from ends
    where role in ('compute', 'fabric') or role is null
    group by cohort
),

judged as (
    select
        e.*,
        case
            when e.is_strict then false
            when e.is_strict is null then null
            when u.is_strict is not null then u.is_strict
            when not u.is_open then false
        end as is_behind
    from ends as e
    left join usual as u on u.cohort = e.cohort
)

select
    e.target,
    e.port,
    concat_ws( -- null: only what is so
        ', ',
        case when e.cnp_class = -1 then 'in no class' end,
        case when e.is_with_data then 'in the class of data (' || e.cnp_class || ')' end,
        case when e.is_paused and not coalesce(e.is_with_data, false) then 'in class ' || e.cnp_class || ' with PFC' end, -- null: only for the words
        case when e.is_behind then 'in a queue that is ' || case e.scheduler when '' then 'not scheduled' else e.scheduler end end
    ) as observed,
    case when e.is_behind then 'a strict queue, as most ports of its kind have' else 'a class of its own without PFC' end as expected,
    s.cnp_dscp is not null and (s.ecn is null or s.ecn) and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    case when s.trust is not null and s.trust = 'pcp' then null when e.cnp_class = -1 then true else e.is_paused or e.is_behind or coalesce(e.is_with_data, false) end as fault, -- null: only where data's DSCP is said
    e.inferred,
    case
        when s.trust is not null and s.trust = 'pcp' then null
        when e.kind is not null and e.role is not null and e.cnp_class is not null and e.pfc_mask is not null and e.has_queue and e.scheduler is null
            then 'scheduler'
    end as unread_facts
from judged as e
cross join site as s
