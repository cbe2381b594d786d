/* +++
id = "neighbors-disagree"
aliases = ["TOP-07"]
title = "LLDP mismatch between link partners"
severity = "medium"
subject = "end"
peers = true
both_ends = true
needs = ["end_scope.has_switches", "end_scope.role", "end_scope.peer", "end_scope.trouble"]
message = "{subject}: {observed}"
action = "ask"
implied_by = ["cable-unlike-plan"]
since = "0.3"
sources = ["judgement: LLDP is what links are known by; where it contradicts itself, whatever compares two ends is open"]

[grades]
medium = "the two ends report different link partners, or one has several LLDP neighbors"
low = "only one end sees its link partner"

[uses]
"end_scope.peer_port" = {purpose = "words"}
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Cables, rails and paths are derived from what both ends report about each other. If they contradict each other, something
forwards LLDP that should not (an unmanaged switch, a bridge, a DPU), a name is used twice, or one end is out of date.

## What to do
Query the LLDP neighbors on both ends. If one has several, the NIC's firmware may send LLDP in addition to the host. If one
has none, lldpd is not running there, or the switch does not send on that port.

## Exceptions
Expected right after a cable was moved, until the old entry ages out: two minutes by default.
*/
select
    target,
    port,
    case trouble
        when 'contradiction' then 'its LLDP neighbor reports another link partner'
        when 'several' then 'it has several LLDP neighbors'
        when 'one-sided' then 'only one end sees its link partner'
        else trouble
    end as observed,
    'each end reports its link partner' as expected,
    has_switches and role in ('compute', 'storage', 'fabric') and peer <> '' as applies,
    trouble <> '' as fault,
    case when trouble <> 'several' then 'link partner ' || peer || ':' || peer_port end as detail,
    inferred,
    case trouble when 'one-sided' then 'low' else 'medium' end as severity
from end_scope
