/* +++
id = "SWQ-03"
title = "A switch does not mark in the queue of RoCE data"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "port_class.ecn_enabled"]
message = "{subject} has ECN {observed} for class {expected}"
setting = "switch.ecn"
on_path = {packets = ["data"], sides = ["out"]}
since = "0.3"
sources = ["review SWQ-03, G-FABRIC", "SONiC wiki, Enable ECN on lossless queues"]

[uses]
"site.ecn" = "nothing is wanted where the site says nothing"
"site.data_priority" = "which class data has; without it nothing can be wanted"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Without marks no sender slows down: the queue fills until PFC stops the neighbour, which stops its neighbours. Every burst
then becomes a pause for others who have no part in it.

## What to do
Bind a profile that marks (ECN, not drop) to that queue, with the thresholds that the other ports have (SONiC: `WRED_PROFILE`
with `ecn` `ecn_all`, bound in `QUEUE`; Cumulus: `nv set qos roce`; EOS: `random-detect ecn` on the transmit queue; Onyx: `traffic-class 3 congestion-control ecn`). Links stay
up.

## When it is wrong
Fabrics with PFC alone, or with congestion control that needs no marks: the site file says `ecn = false`, or a profile that does.
*/
select
    e.target,
    e.port,
    case when not c.ecn_enabled then 'off' else 'on' end as observed,
    s.data_priority as expected,
    s.ecn is not null and s.ecn and s.data_priority is not null
        and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    not c.ecn_enabled as fault,
    e.inferred,
    case when e.kind is not null and e.role is not null and c.port is not null and c.ecn_enabled is null then 'ecn' end as unread_facts
from end_scope as e
cross join site as s
left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.data_priority
where e.kind = 'switch' or e.kind is null
