/* +++
id = "pauses-do-not-arrive"
aliases = ["XHP-03"]
title = "PFC pause counter mismatch between link partners"
severity = "medium"
subject = "end"
peers = true
both_ends = true
needs = [
  "end_scope.has_switches", "end_scope.kind", "end_scope.role", "end_scope.peer_kind", "end_scope.trouble", "netdev_counter.value", "before.netdev_counter.value",
  "switch_counter.value", "before.switch_counter.value", "host.boot_id", "before.host.boot_id",
]
message = "{subject} {observed}"
action = "ask"
implied_by = ["link-lossless-differs"]
baseline = true
preview = true
since = "0.3"
sources = [
  "review XHP-03, G-WINDOW", "mlx5 counters.rst (tx_prioP_pause)",
  "judgement: chips count frames that end a pause or not, and the two are read some seconds apart, so only a factor of two is odd",
]

[uses]
"site.data_priority" = "which priority is compared; 3 if it is not set"
"end_scope.peer" = "without a neighbor nothing is checked, and peer_kind says so"
"end_scope.peer_port" = "likewise"
"end_scope.inferred" = {purpose = "severity"}

[parameters.least_frames]
default = 1000
unit = "pause frames"
reason = "review XHP-03: fewer are not conclusive"

[parameters.most_ratio]
default = 2.0
unit = "times as many at one end"
reason = "review XHP-03: outside 0.5 to 2"
+++
## Why it matters
A pause for another priority than the switch expects is counted elsewhere, or nowhere, and stops nothing, although the host
has sent it.

## What to do
Compare PFC on both ends (`link-lossless-differs`), and check which priority the switch counts (`show pfc counters` or its
equivalent).

## Exceptions
Expected if traffic began or ended between the two readings. Some chips count XON frames and others do not. Only the host's
pauses are compared.
*/
with sent as (
    select n.target, n.netdev as port, n.rise
    from netdev_rise as n
    cross join site as s
    where n.counter = 'tx_prio' || case when s.data_priority is not null then s.data_priority else 3 end || '_pause'
),

heard as (
    select r.target, r.port, r.rise
    from switch_rise as r
    cross join site as s
    where r.counter = 'pfc_rx' and r.number = case when s.data_priority is not null then s.data_priority else 3 end
)

select
    e.target,
    e.port,
    'sent ' || t.rise || ' pause frames; its link partner counted ' || h.rise as observed,
    'about the same' as expected,
    e.has_switches and e.kind = 'host' and e.role = 'compute' and e.peer_kind in ('host', 'switch')
        and case when e.trouble in ('', 'one-sided') then t.rise >= $least_frames or h.rise >= $least_frames end as applies,
    t.rise > $most_ratio * h.rise or h.rise > $most_ratio * t.rise as fault,
    'link partner ' || e.peer || ':' || e.peer_port as detail,
    e.inferred
from end_scope as e
left join sent as t on t.target = e.target and t.port = e.port
left join heard as h on h.target = e.peer and h.port = e.peer_port
where e.kind = 'host' or e.kind is null
