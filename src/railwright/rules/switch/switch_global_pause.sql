/* +++
id = "switch-global-pause"
aliases = ["SWQ-17"]
title = "Global pause on beside PFC (switch)"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pause_rx", "end_scope.pause_tx"]
message = "{subject} has global pause on for {observed}; expected {expected}"
action = "set"
setting = "switch.pause"
cost = "21.7 % of a 400G port, with all drop counters at zero (incident I-062)"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.3"
sources = ["review QOS-04, for the other end", "incident I-062", "EOS: show interfaces flowcontrol; Onyx: show interfaces ethernet"]

[uses]
"site.fabric_mode" = "if it says lossless, PFC need not be observed"
"end_scope.pfc_mask" = "used if no profile declares the fabric lossless"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Link-level pause (802.3x) stops the whole port, including the classes that PFC should keep going, and no drop counter shows
it. Most chips support only one of the two at a time: PFC is then silently off.

## What to do
Turn it off on this port and on the NIC (`host-global-pause`): EOS `no flowcontrol receive`, `no flowcontrol send`; Onyx
`no flowcontrol`. The link may bounce.

## Exceptions
If the switch drops link-level pause while PFC is on (EOS does, according to its manual), it does harm only once PFC is
turned off. SONiC does not report link-level pause, and Cumulus only port by port (`nv show interface PORT qos link-pause`,
imported): without it, the check is inconclusive.
*/
select
    e.target,
    e.port,
    concat_ws(' and ', case when e.pause_rx then 'rx' end, case when e.pause_tx then 'tx' end) as observed, -- null: only what is on
    'off' as expected,
    e.kind = 'switch' and e.role in ('compute', 'fabric')
        and (s.fabric_mode is not null and s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') or e.pfc_mask <> 0) as applies,
    e.pause_rx or e.pause_tx as fault,
    e.inferred,
    case when e.kind is not null and e.role is not null and (e.pfc_mask is not null or s.fabric_mode is not null) then 'link_pause' end as unread_facts
from end_scope as e
cross join site as s
where e.kind = 'switch' or e.kind is null
