/* +++
id = "switch-early-drop"
aliases = ["SWQ-18"]
title = "WRED drops enabled in a lossless queue"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.ecn_enabled"]
message = "{subject} has early drop on in class {observed}, which has PFC"
action = "set"
setting = "switch.ecn"
covers = ["SWQ-05"]
on_path = {packets = ["data"], sides = ["out"]}
since = "0.3"
sources = ["review SWQ-05 (a rule of its own)", "incident I-112"]

[uses]
"port_class.red_enabled" = "used if the queue does not mark"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A queue with random early detection (WRED) that does not mark drops packets as it fills, before any pause is sent. The class
is lossless by PFC and still loses packets, and RoCE recovers from loss by retransmitting a window.

## What to do
Let the profile mark instead of drop (SONiC: `ecn` `ecn_all` in `WRED_PROFILE`; Cumulus and Onyx: congestion control with
ECN), or remove it from the queue. The change takes effect at once.

## Exceptions
A marking profile also drops packets that cannot be marked (no ECT in their header): fix that on the hosts. If it is unknown
whether a queue marks, or whether one that does not mark drops early, the check is inconclusive.
*/
with judged as (
    select *, case when ecn_enabled then false when not ecn_enabled then red_enabled end as drops
    from end_class
)

select
    target,
    port,
    string_agg(class::VARCHAR, ',' order by class) filter (pfc and drops) as observed,
    'ECN marking, or no early drop' as expected,
    kind = 'switch' and role in ('compute', 'fabric') and any_known(pfc) as applies,
    any_known(pfc and drops) as fault,
    inferred,
    case
        when kind is null or role is null or count(pfc) < count(*) then null
        else concat_ws(
            ',',
            case when count(*) filter (pfc and ecn_enabled is null) > 0 then 'ecn' end,
            case when count(*) filter (pfc and not ecn_enabled and red_enabled is null) > 0 then 'early_drop' end
        )
    end as unread_facts,
    string_agg(class::VARCHAR, ',' order by class) filter ((pfc or pfc is null) and (drops or drops is null)) as classes
from judged
group by target, port, kind, role, inferred
