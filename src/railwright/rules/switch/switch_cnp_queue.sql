/* +++
id = "switch-cnp-queue"
aliases = ["SWQ-15"]
title = "CNP queue not strict priority, or paused"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.cnp_class", "end_scope.pfc_mask", "port_class.scheduler"]
message = "{subject} has CNPs {observed}; expected {expected}"
action = "set"
setting = "switch.cnp_queue"
implied_by = ["switch-cnp-class", "switch-data-class", "switch-pfc-mismatch"]
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
"end_scope.cohort" = "a queue that is not strict is compared with its peers"
"site.cnp_dscp" = "CNPs cannot be identified if the site file does not set their DSCP"
"site.fabric_mode" = "in a lossy fabric a switch need not have classes"
"end_scope.dscp_classes" = "whether it has any; if that was not read, the class of CNPs is unknown"
"site.trust" = "a site that trusts PCP does not use the DSCP map"
"site.ecn" = "if nothing reacts to ECN marks, no CNPs are sent"
"end_scope.data_class" = "used if the site file sets the DSCP of data"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must reach the sender while the queue is still full. In the data class it waits in that very queue. In a class with
PFC it is paused along with the data. In a class that is not served first it waits while others are served.

## What to do
Map the DSCP of CNPs to a separate class without PFC, and schedule its queue as on the other ports (strict: Cumulus and Onyx
do so in their RoCE mode; SONiC: `DSCP_TO_TC_MAP` and `SCHEDULER`; EOS: `qos map dscp`, `no bandwidth`, `priority strict` on
the transmit queue).

## Exceptions
If the congestion control of the site does not need CNPs, set `ecn = false` in the site file. A weighted queue is fine if
the whole fabric uses it (SONiC's and Microsoft's preset): only a port that is not strict while most of its peers are is
reported. If nothing else is wrong and the scheduler of the queue is unknown, the check is inconclusive. Sites with `trust =
"pcp"` are not checked: there the PCP picks the class of a CNP, not its DSCP. Nor are switches without any classes in a
fabric that is lossy (`roce-lossy`): there CNPs wait with the data.
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
        case when e.is_with_data then 'in the data class (' || e.cnp_class || ')' end,
        case when e.is_paused and not coalesce(e.is_with_data, false) then 'in class ' || e.cnp_class || ' with PFC' end, -- null: only for the words
        case when e.is_behind then 'in a queue with scheduler ' || case e.scheduler when '' then 'none' else e.scheduler end end
    ) as observed,
    case when e.is_behind then 'a strict queue, like most of its peers' else 'a separate class without PFC' end as expected,
    s.cnp_dscp is not null and (s.trust is null or s.trust <> 'pcp')
        and not (s.fabric_mode is not null and s.fabric_mode = 'lossy' and e.dscp_classes is not null and e.dscp_classes = '')
        and (s.ecn is null or s.ecn) and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    case when e.cnp_class = -1 then true else e.is_paused or e.is_behind or coalesce(e.is_with_data, false) end as fault, -- null: only if data's DSCP is set
    e.inferred,
    case
        when e.kind is not null and e.role is not null and e.cnp_class is not null and e.pfc_mask is not null and e.has_queue and e.scheduler is null
            then 'scheduler'
    end as unread_facts
from judged as e
cross join site as s
