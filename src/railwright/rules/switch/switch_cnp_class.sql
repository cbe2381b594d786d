/* +++
id = "switch-cnp-class"
aliases = ["SWQ-19"]
title = "CNPs in the wrong switch class"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.dscp_classes", "end_scope.cohort"]
message = "{subject} has {observed}; expected {expected}"
implied_by = ["switch-data-class"]
action = "set"
setting = "switch.dscp_map"
on_path = {packets = ["CNP"], sides = ["in"]}
since = "0.4"
sources = [
  "review SWQ-02, G-FABRIC", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "judgement: ports of one system, tier, direction and speed are compared with each other",
]

[uses]
"site.cnp_dscp" = "48 if the site file does not set it: ports are then only compared with each other"
"site.cnp_priority" = "if not set, ports are compared with each other"
"site.fabric_mode" = "in a lossy fabric a switch without classes is compared with its peers only"
"site.trust" = "a site that trusts PCP does not use the DSCP map"
"port_class.queue" = "compared if it was read: not every system reports the egress queue of a class"
"end_scope.inferred" = {purpose = "severity"}

[parameters.cnp_dscp]
default = 48
unit = "DSCP"
reason = "reference B1.1: CNP_DSCP 48 is the firmware's default"
+++
## Why it matters
A congestion notification (CNP) tells a sender to slow down, and is worthless if it is late. On one switch with a different
map it waits behind the very data that it should slow down, or is dropped with best effort. The hosts show no difference.

## What to do
Give the switch the same map as its peers (SONiC: `DSCP_TO_TC_MAP` and `TC_TO_QUEUE_MAP`; Cumulus: `nv set qos roce`; EOS:
`qos map dscp`; Onyx: `qos map dscp`). Packets in flight change class at once, and may arrive out of sequence. If a port
trusts the VLAN priority, set it to trust DSCP first.

## Exceptions
If the site file does not set the priority, a port is compared with its peers, provided there are four or more and most
agree. Sites with `trust = "pcp"` are not checked. In a fabric that is lossy (`roce-lossy`) a switch may have no classes at all,
as long as most of its peers have none either. A port that does not trust DSCP assigns no class to CNPs.
*/
with flat as (
    select e.target, e.port
    from end_scope as e
    cross join site as s
    where s.fabric_mode = 'lossy' and e.dscp_classes = ''
),

ways as (
    select w.*
    from dscp_way(
        (select coalesce(cnp_dscp, $cnp_dscp) from site), -- null: the default, and then there is nothing to compare with
        (select case when cnp_dscp is not null then cnp_priority end from site) -- null: likewise
    ) as w
    anti join flat as f on f.target = w.target and f.port = w.port -- null: a port is part of both keys
    union all
    select w.*
    from dscp_way((select coalesce(cnp_dscp, $cnp_dscp) from site), null) as w -- null: likewise
    semi join flat as f on f.target = w.target and f.port = w.port -- null: the same
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
left join ways as w on w.target = e.target and w.port = e.port
where e.kind = 'switch' or e.kind is null
