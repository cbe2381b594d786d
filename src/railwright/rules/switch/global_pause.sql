/* +++
id = "SWQ-17"
title = "Link-level pause is on beside PFC at a switch port"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.pause_rx", "end_scope.pause_tx"]
message = "{subject} has link-level pause on for {observed}, it should be {expected}"
setting = "switch.pause"
cost = "21.7 % of a 400G port, with all drop counters at zero (incident I-062)"
since = "0.3"
sources = ["review QOS-04, for the other end", "incident I-062", "EOS: show interfaces flowcontrol; Onyx: show interfaces ethernet"]

[uses]
"site.fabric_mode" = "where it says lossless, PFC need not be seen"
"end_scope.pfc_mask" = "asked where no profile says that the fabric is lossless"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Link-level pause (802.3x) stops the whole port, also the classes that PFC was to keep going, and no drop counter shows it. Most chips do
only one of both: then PFC is off without a word.

## What to do
Switch it off at this port, and at the NIC (QOS-04): EOS `no flowcontrol receive`, `no flowcontrol send`; Onyx `no flowcontrol`. The link may go down and
come back.

## When it is wrong
Where the switch drops link-level pause while PFC is on (EOS does, by its manual), it harms only once PFC is switched off.
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
