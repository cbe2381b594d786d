/* +++
id = "SWQ-06"
title = "A class with PFC has no headroom"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "end_scope.system", "port_class.pfc", "port_class.is_lossless",
]
message = "{subject} has {observed}"
implied_by = ["SWQ-01", "XHP-01"]
setting = "switch.headroom"
since = "0.3"
sources = ["review SWQ-06", "incident I-111, I-115"]

[uses]
"port_class.headroom_bytes" = "asked of SONiC; Cumulus and Onyx work it out by themselves and mostly do not tell"
"port_class.has_shared_headroom" = "asked where the port has no headroom of its own"
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
Between the pause and its effect the neighbour goes on sending, for as long as the signal takes there and back. Headroom
is the memory for that. Without it those packets are dropped, in the very class that was to lose none.

## What to do
See why the buffer profile has none: speed or cable length without a line in the lookup table, a priority group without its lossless profile,
a profile that was never worked out. Buffer changes can drop traffic or need a reload of the QoS configuration: in a maintenance window.

## When it is wrong
Where a pool of headroom is shared between ports, a port needs none of its own. EOS does not print headroom in what is read: its
ports are not judged. Of Cumulus and Onyx, which do not print how much it is, only whether the buffer is a lossless one is judged.
*/
with judged as (
    select
        *,
        -- An ingress buffer that is not lossless has no headroom, whatever its size.
        not is_lossless or case
            when headroom_bytes > 0 then false
            when headroom_bytes = 0 then not has_shared_headroom
            when system in ('cumulus', 'onyx') then false
        end as has_none
    from end_class
)

select
    target,
    port,
    string_agg('PFC on priority ' || class || ' and no headroom for it', ', ' order by class) filter (pfc and has_none) as observed,
    'headroom' as expected,
    kind = 'switch' and system <> 'eos' and role in ('compute', 'fabric') and any_known(pfc) as applies,
    any_known(pfc and has_none) as fault,
    inferred
from judged
group by target, port, kind, system, role, inferred
