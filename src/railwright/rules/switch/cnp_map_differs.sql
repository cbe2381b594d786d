/* +++
id = "SWQ-19"
title = "A switch puts notifications into another class"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.dscp_classes", "end_scope.cohort"]
message = "{subject} has {observed}, needed is {expected}"
implied_by = ["SWQ-02"]
setting = "switch.dscp_map"
on_path = {packets = ["CNP"], sides = ["in"]}
since = "0.4"
sources = [
  "review SWQ-02, G-FABRIC", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "judgement: ports of one system, tier, direction and speed are compared with each other",
]

[uses]
"site.cnp_dscp" = "48 where the site does not say it: then ports are only compared with each other"
"site.cnp_priority" = "where nobody says it, ports are compared with each other"
"site.trust" = "a site that goes by PCP has no use for the map of DSCP"
"port_class.queue" = "compared where it was read: not every system tells which queue a class leaves through"
"end_scope.inferred" = {purpose = "severity"}

[parameters.cnp_dscp]
default = 48
unit = "DSCP"
reason = "reference B1.1: CNP_DSCP 48 is the firmware's default"
+++
## Why it matters
A notification (CNP) tells a sender to slow down, and is worth nothing once it is late. One switch with another map lets it wait behind the
very data that it is to slow down, or drops it with best effort; hosts look the same all the while.

## What to do
Give the switch the map of its neighbours (SONiC: `DSCP_TO_TC_MAP` and `TC_TO_QUEUE_MAP`; Cumulus: `nv set qos roce`; EOS: `qos map dscp`;
Onyx: `qos map dscp`). Packets that are under way change their class at once, and may overtake each other.

## When it is wrong
Where the site does not say which priority it wants, a port is held against those of its kind, if there are four or more and most agree.
Sites that say `trust = "pcp"` are not judged. A port that does not go by DSCP gives them no class.
*/
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
left join dscp_way(
    (select coalesce(cnp_dscp, $cnp_dscp) from site), -- null: the usual one, and then nothing is wanted
    (select case when cnp_dscp is not null then cnp_priority end from site) -- null: likewise
) as w on w.target = e.target and w.port = e.port
where e.kind = 'switch' or e.kind is null
