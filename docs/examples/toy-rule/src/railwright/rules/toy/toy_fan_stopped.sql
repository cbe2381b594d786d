/* +++
id = "toy-fan-stopped"
title = "Fan stopped"
severity = "medium"
subject = "host"
needs = ["toy_fan.speed_rpm"]
message = "{subject} has stopped fans: {observed}"
action = "replace"
preview = true
since = "0.2"
sources = ["judgement: an example, see docs/extending.md"]

[uses]
"toy_fan.fan" = {purpose = "words"}
"probe_result.status" = "tells a host without a fan controller from one that was not read"
+++
## Why it matters
With one fan less the others turn faster, and NICs next to the stopped fan get hot.

## What to do
Replace the fan.

## Exceptions
None.
*/
with fans as (
    select
        target,
        any_known(speed_rpm = 0) as is_stopped,
        string_agg('fan ' || fan, ', ' order by fan) filter (speed_rpm = 0) as words
    from toy_fan
    group by target
)

select
    h.target,
    f.words as observed,
    'all turn' as expected,
    case when f.target is not null then true when r.status is not null then false end as applies,
    f.is_stopped as fault
from host_scope as h
left join fans as f on f.target = h.target
left join probe_result as r on r.target = h.target and r.probe = 'toy' and r.status in ('ok', 'absent')
