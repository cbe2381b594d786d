/* +++
id = "ecn-without-cnp"
aliases = ["XHP-04"]
title = "ECN marks received but no CNPs sent"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "{subject} received {observed} marked packets and sent {expected} CNPs"
action = "set"
setting = "nic.ecn"
implied_by = ["ecn-half-enabled", "intent-ecn"]
baseline = true
preview = true
since = "0.3"
sources = ["review XHP-04, G-PCC, G-WINDOW", "Linux mlx5 counters.c (np_ecn_marked_roce_packets, np_cnp_sent)"]

[uses]
"site.programmable_cc" = "with programmable congestion control these counters are not evidence"
"site.ecn" = "if the site file declares that NICs need not react, nothing is checked"
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_marks]
default = 1000
unit = "marked packets"
reason = "judgement: one CNP may stand for all marks of some microseconds"
+++
## Why it matters
Switches mark packets so that the receiver signals the sender to slow down. If it does not, the marks have no effect, and
only PFC pauses are left.

## What to do
Check ECN on the receiving side (`/sys/class/net/NETDEV/ecn/roce_np/enable`, `ecn-half-enabled`).

## Exceptions
With programmable congestion control these counters do not move. Sites whose profile declares it are not checked.
*/
with rises as (
    select
        target,
        device,
        port,
        max(rise) filter (counter = 'np_ecn_marked_roce_packets') as marks,
        max(rise) filter (counter = 'np_cnp_sent') as notifications
    from rdma_rise
    where counter in ('np_ecn_marked_roce_packets', 'np_cnp_sent')
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    r.marks as observed,
    r.notifications as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and (s.programmable_cc is null or not s.programmable_cc)
        and (s.ecn is null or s.ecn) and r.marks >= $least_marks as applies,
    r.notifications = 0 as fault,
    p.inferred
from port_scope as p
cross join site as s
left join rises as r on r.target = p.target and r.device = p.device and r.port = p.port
