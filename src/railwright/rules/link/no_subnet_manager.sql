/* +++
id = "TOP-03"
title = "No subnet manager serves the port"
severity = "blocker"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.state", "rdma_port.physical_state", "rdma_port.lid", "rdma_port.sm_lid",
]
message = "{subject} is {observed}: no subnet manager serves it"
since = "0.2"
sources = [
  "review TOP-03, LNK-01",
  "https://docs.nvidia.com/networking/display/ufmsdnappumv4184/fabric+validation+tab (duplicate and zero LIDs)",
]

[uses]
"port_scope.netdev" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
"host.uptime_s" = "asked where nobody serves the port; where it was not read, a port in INIT is still in INIT"

[parameters.settles_s]
default = 120
unit = "s since boot"
reason = "review TOP-03: a manager takes up to two minutes to find a port"
+++
## Why it matters
The cable works and the port does not: without a subnet manager it has no LID, no routes and no partition, and nothing can
be sent. It stays in INIT for as long as nobody answers.

## What to do
Ask who the master is (`sminfo`, as root) and whether the port is seen (`ibnetdiscover`, the UFM or opensm log). Usual causes:
no subnet manager on this subnet or plane, a manager that ignores the node (partition, GUID list, isolation by UFM), a
manager that is overloaded. Nothing is to be set on the host.

## When it is wrong
In the first two minutes after the link came up, and while the manager fails over: collect again. In the first two after
the host's own boot it is unknown and no failure. Several masters in one
subnet and duplicate LIDs are not seen from the host: separate subnets share the default prefix.
*/
select
    p.target,
    p.device,
    p.port,
    p.state || ', LID ' || r.lid || ', subnet manager at LID ' || r.sm_lid as observed,
    'ACTIVE, with both' as expected,
    -- Without a link it is LNK-01. RoCE ports have no LID.
    p.link_layer = 'InfiniBand' and p.role = 'compute' and r.physical_state = 'LinkUp' as applies,
    case
        when u.uptime_s < $settles_s and (p.state in ('INIT', 'ARMED') or r.lid = 0 or r.sm_lid = 0) then null
        else p.state in ('INIT', 'ARMED') or r.lid = 0 or r.sm_lid = 0
    end as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join host as u on u.target = p.target
