/* +++
id = "switch-data-class"
aliases = ["SWQ-02"]
title = "RoCE data in the wrong switch class"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.dscp_classes", "end_scope.cohort"]
message = "{subject} has {observed}; expected {expected}"
action = "set"
setting = "switch.dscp_map"
on_path = {packets = ["data"], sides = ["in"]}
since = "0.3"
sources = [
  "review SWQ-02, G-FABRIC", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "judgement: only codepoints that are used are compared, and ports of one system, tier, direction and speed with each other",
]

[uses]
"site.data_dscp" = "26 if the site file does not set it: ports are then only compared with each other"
"site.data_priority" = "if not set, ports are compared with each other"
"site.fabric_mode" = "in a lossy fabric a switch without classes is compared with its peers only"
"site.trust" = "a site that trusts PCP does not use the DSCP map"
"port_class.queue" = "compared if it was read: not every system reports the egress queue of a class"
"end_scope.inferred" = {purpose = "severity"}

[grades]
high = "a class decides what is lossless"
medium = "the site file says that the fabric is lossy: a class decides only marks and share of the link"

[parameters.data_dscp]
default = 26
unit = "DSCP"
reason = "reference B3: DSCP 26 with ECT(0) is traffic class 106, which public guides use"
+++
## Why it matters
The map from DSCP to class and queue makes a packet lossless at this hop. A switch with a different map drops RoCE data in
its best-effort queue, or lets best effort fill the queue that must not drop. The hosts show no difference.

## What to do
Give the switch the same map as its peers (SONiC: `DSCP_TO_TC_MAP` and `TC_TO_QUEUE_MAP`; Cumulus: `nv set qos roce`; EOS:
`qos map dscp`; Onyx: `qos map dscp`). Packets in flight change class at once, and may arrive out of sequence. If a port
trusts the VLAN priority, set it to trust DSCP first.

## Exceptions
If the site file does not set the priorities, a port is compared with its peers, provided there are four or more and most
agree. Codepoints other than data and best effort are not compared; `switch-cnp-class` covers CNPs. Sites with
`trust = "pcp"` are not checked. In a fabric that is lossy (`roce-lossy`) a switch may have no classes at all, as long as most of
its peers have none either. A port that does not trust DSCP assigns no class to them.
*/
with flat as (
    select e.target, e.port
    from end_scope as e
    cross join site as s
    where s.fabric_mode = 'lossy' and e.dscp_classes = ''
),

ways as (
    select 'data' as name, w.*
    from dscp_way(
        (select coalesce(data_dscp, $data_dscp) from site), -- null: the default, and then there is nothing to compare with
        (select case when data_dscp is not null then data_priority end from site) -- null: likewise
    ) as w
    anti join flat as f on f.target = w.target and f.port = w.port -- null: a port is part of both keys
    union all
    select 'data' as name, w.*
    from dscp_way((select coalesce(data_dscp, $data_dscp) from site), null) as w -- null: likewise
    semi join flat as f on f.target = w.target and f.port = w.port -- null: the same
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
    e.inferred,
    case when s.fabric_mode is not null and s.fabric_mode = 'lossy' then 'medium' else 'high' end as severity
from end_scope as e
cross join site as s
left join ends as w on w.target = e.target and w.port = e.port
where e.kind = 'switch' or e.kind is null
