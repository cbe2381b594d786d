/* +++
id = "subnet-manager-missing"
aliases = ["TOP-03"]
title = "No subnet manager on the port's fabric"
severity = "blocker"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.state", "rdma_port.physical_state", "rdma_port.lid", "rdma_port.sm_lid",
]
message = "{subject} is {observed}: no subnet manager has configured it"
action = "ask"
on_path = {packets = ["InfiniBand"], sides = ["in", "out"]}
since = "0.2"
sources = [
  "review TOP-03, LNK-01",
  "https://docs.nvidia.com/networking/display/ufmsdnappumv4184/fabric+validation+tab (duplicate and zero LIDs)",
]

[uses]
"port_scope.netdev" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other compute ports carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
"host.uptime_s" = "used if no subnet manager serves the port; if it was not read, a port in INIT is still in INIT"

[parameters.settles_s]
default = 120
unit = "s since boot"
reason = "review TOP-03: a subnet manager takes up to two minutes to find a port"
+++
## Why it matters
The cable works but the port does not: without a subnet manager it has no LID, no routes and no partition, and cannot send
anything. It stays in INIT until a subnet manager configures it.

## What to do
Find the master (`sminfo`, as root) and check whether it sees the port (`ibnetdiscover`, the UFM or opensm log). Usual
causes: no subnet manager on this subnet or plane, a subnet manager that ignores the node (partition, GUID list, isolation
by UFM), or one that is overloaded. No setting on the host needs to change.

## Exceptions
In the first two minutes after the link came up, and during a subnet manager failover, the finding is expected: collect
again. In the first two minutes after the host's own boot the check is inconclusive, not a fault. Several masters in one
subnet and duplicate LIDs cannot be seen from the host: separate subnets share the default prefix.
*/
select
    p.target,
    p.device,
    p.port,
    p.state || ', LID ' || r.lid || ', SM LID ' || r.sm_lid as observed,
    'ACTIVE, with LID and SM LID' as expected,
    -- Without a link it is port-down. RoCE ports have no LID.
    p.link_layer = 'InfiniBand' and p.role = 'compute' and r.physical_state = 'LinkUp' as applies,
    case
        when u.uptime_s < $settles_s and (p.state in ('INIT', 'ARMED') or r.lid = 0 or r.sm_lid = 0) then null
        else p.state in ('INIT', 'ARMED') or r.lid = 0 or r.sm_lid = 0
    end as fault,
    p.netdev as detail,
    p.inferred,
    round(o.port_gbps, 1) as cost_gbps
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join host as u on u.target = p.target
left join role_wire as o on o.target = p.target and o.role = p.role
