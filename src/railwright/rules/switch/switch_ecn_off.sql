/* +++
id = "switch-ecn-off"
aliases = ["SWQ-03"]
title = "ECN marking off on the RoCE queue"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "port_class.ecn_enabled"]
message = "{subject} has ECN {observed} for class {expected}"
action = "set"
setting = "switch.ecn"
on_path = {packets = ["data"], sides = ["out"]}
since = "0.3"
sources = ["review SWQ-03, G-FABRIC", "SONiC wiki, Enable ECN on lossless queues"]

[uses]
"site.ecn" = "no intent to compare with if the site file does not set it"
"site.data_priority" = "the class of data; without it there is nothing to compare with"
"port_class.queue" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Without ECN marks no sender slows down: the queue fills until PFC stops the link partner, which in turn stops its own. Every
burst then pauses other traffic that did not cause it.

## What to do
Bind a profile that marks (ECN, not drop) to that queue, with the same thresholds as on the other ports (SONiC:
`WRED_PROFILE` with `ecn` `ecn_all` and `wred_green_enable` `true`, bound in `QUEUE`; Cumulus: `nv set qos roce`; EOS:
`random-detect ecn` on the transmit queue; Onyx: `traffic-class 3 congestion-control ecn`). Links stay up.

If the detail names a queue with another number, look at the map of classes to queues first (SONiC: `TC_TO_QUEUE_MAP`): the
profile may be bound to the queue that the class no longer uses.

## Exceptions
If the fabric uses PFC alone, or congestion control that does not need marks, set `ecn = false` in the site file, or a
profile that does so. If a switch does not report whether the queue marks, the check is inconclusive.
*/
select
    e.target,
    e.port,
    case when not c.ecn_enabled then 'off' else 'on' end as observed,
    s.data_priority as expected,
    s.ecn is not null and s.ecn and s.data_priority is not null
        and e.kind = 'switch' and e.role in ('compute', 'fabric') as applies,
    not c.ecn_enabled as fault,
    case when c.queue <> s.data_priority then 'class ' || s.data_priority || ' is served by queue ' || c.queue end as detail,
    e.inferred,
    case when e.kind is not null and e.role is not null and c.port is not null and c.ecn_enabled is null then 'ecn' end as unread_facts
from end_scope as e
cross join site as s
left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.data_priority
where e.kind = 'switch' or e.kind is null
