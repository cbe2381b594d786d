/* +++
id = "TOP-07"
title = "The two ends of a link do not name each other"
severity = "medium"
subject = "end"
peers = true
both_ends = true
needs = ["end_scope.has_switches", "end_scope.role", "end_scope.peer", "end_scope.trouble"]
message = "{subject}: {observed}"
implied_by = ["TOP-02"]
since = "0.3"
sources = ["judgement: LLDP is what links are known by; where it contradicts itself, whatever compares two ends is open"]

[grades]
medium = "the two ends name others, or one hears several neighbours"
low = "only one end hears the other"

[uses]
"end_scope.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Cables, rails and paths are told by what both ends say of each other. Where they disagree, something forwards LLDP that should not (an unmanaged
switch, a bridge, a DPU), a name is used twice, or one end is out of date.

## What to do
Ask both ends for their neighbours. Several: firmware of the NIC may speak LLDP beside the host. Nobody at one end: lldpd is not running there, or
the switch does not send on that port.

## When it is wrong
Right after a cable was moved, until the old entry ages out: two minutes by default.
*/
select
    target,
    port,
    case trouble
        when 'contradiction' then 'it names ' || peer || ':' || peer_port || ', and that end names another'
        when 'several' then 'it hears several neighbours'
        when 'one-sided' then 'only one end hears the other (' || peer || ':' || peer_port || ')'
        else trouble
    end as observed,
    'each names the other' as expected,
    has_switches and role in ('compute', 'storage', 'fabric') and peer <> '' as applies,
    trouble <> '' as fault,
    inferred,
    case trouble when 'one-sided' then 'low' else 'medium' end as severity
from end_scope
