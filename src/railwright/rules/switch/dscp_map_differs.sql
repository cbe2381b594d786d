/* +++
id = "SWQ-02"
title = "A switch puts RoCE data into another class"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.dscp_classes", "end_scope.cohort"]
message = "{subject} has {observed}, needed is {expected}"
setting = "switch.dscp_map"
on_path = {packets = ["data"], sides = ["in"]}
since = "0.3"
sources = [
  "review SWQ-02, G-FABRIC", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "judgement: only codepoints that are used are compared, and ports of one system, tier, direction and speed with each other",
]

[uses]
"site.data_dscp" = "26 where the site does not say it: then ports are only compared with each other"
"site.data_priority" = "where nobody says it, ports are compared with each other"
"site.trust" = "a site that goes by PCP has no use for the map of DSCP"
"port_class.queue" = "compared where it was read: not every system tells which queue a class leaves through"
"end_scope.inferred" = {purpose = "severity"}

[parameters.data_dscp]
default = 26
unit = "DSCP"
reason = "reference B3: DSCP 26 with ECT(0) is traffic class 106, which public guides use"
+++
## Why it matters
The map from DSCP to class and queue is what makes a packet lossless at this hop. One switch with another map drops RoCE data
in its best-effort queue, or lets best effort fill the queue that must not drop; hosts look the same all the while.

## What to do
Give the switch the map of its neighbours (SONiC: `DSCP_TO_TC_MAP` and `TC_TO_QUEUE_MAP`; Cumulus: `nv set qos roce`; EOS: `qos map dscp`;
Onyx: `qos map dscp`). Packets that are under way change their class at once, and may overtake each other.

## When it is wrong
Where the site does not say which priorities it wants, a port is held against those of its kind, if there are four or more
and most agree. Codepoints other than data and best effort are not compared; SWQ-19 has those of notifications. Sites that say `trust = "pcp"` are not judged. A port that does not go by DSCP gives them no class.
*/
with ways as (
    select 'data' as name, w.*
    from dscp_way(
        (select coalesce(data_dscp, $data_dscp) from site), -- null: the usual one, and then nothing is wanted
        (select case when data_dscp is not null then data_priority end from site) -- null: likewise
    ) as w
    union all
    select 'best effort' as name, w.* from dscp_way(0, null) as w
),

ends as (
    select
        target,
        port,
        any_known(is_judged) as is_judged,
        any_known(is_elsewhere) as is_elsewhere,
        string_agg(found || ' (' || name || ')', ', ' order by name desc) filter (is_elsewhere) as found,
        string_agg(needed, ', ' order by name desc) filter (is_elsewhere) as needed
    from ways
    group by target, port
)

select
    e.target,
    e.port,
    w.found as observed,
    w.needed as expected,
    e.kind = 'switch' and e.role in ('compute', 'fabric')
        and (s.trust is null or s.trust <> 'pcp')
        and case when e.dscp_classes is null or e.cohort is null then null else w.is_judged end as applies,
    w.is_elsewhere as fault,
    e.inferred
from end_scope as e
cross join site as s
left join ends as w on w.target = e.target and w.port = e.port
where e.kind = 'switch' or e.kind is null
