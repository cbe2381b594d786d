/* +++
id = "SWQ-06"
title = "A class with PFC has no headroom"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.is_lossless",
]
message = "{subject} has {observed}"
implied_by = ["SWQ-01", "XHP-01"]
setting = "switch.headroom"
on_path = {packets = ["data"], sides = ["in"]}
since = "0.3"
sources = ["review SWQ-06", "incident I-111, I-115"]

[uses]
"port_class.headroom_bytes" = "not asked where the switch works it out by itself"
"switch_fact.state" = "tells whether the switch works headroom out by itself; where that is not known, so is the verdict"
"port_class.has_shared_headroom" = "asked where the port has no headroom of its own"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Between the pause and its effect the neighbour goes on sending, for as long as the signal takes there and back. Headroom
is the memory for that. Without it those packets are dropped, in the very class that was to lose none.

## What to do
See why the buffer profile has none: speed or cable length without a line in the lookup table, a priority group without its lossless profile,
a profile that was never worked out. Buffer changes can drop traffic or need a reload of the QoS configuration: in a maintenance window.

## When it is wrong
Where a pool of headroom is shared between ports, a port needs none of its own. Of systems that work headroom out by themselves and do not
print it (Cumulus, Onyx) only whether the buffer is a lossless one is judged.
*/
with judged as (
    select
        e.*,
        f.state,
        -- An ingress buffer that is not lossless has no headroom, whatever its size.
        not is_lossless or case
            when headroom_bytes > 0 then false
            when headroom_bytes = 0 then not has_shared_headroom
            when f.state = 'automatic' then false
        end as has_none
    from end_class as e
    left join switch_fact as f on f.target = e.target and f.fact = 'headroom'
)

select
    target,
    port,
    string_agg('PFC on priority ' || class || ' and no headroom for it', ', ' order by class) filter (pfc and has_none) as observed,
    'headroom' as expected,
    kind = 'switch' and role in ('compute', 'fabric') and any_known(pfc) as applies,
    any_known(pfc and has_none) as fault,
    inferred,
    case
        when kind is null or role is null or count(pfc) < count(*) then null
        when count(*) filter (pfc and headroom_bytes = 0 and has_shared_headroom is null) > 0 then null
        else concat_ws(
            ',',
            case when count(*) filter (pfc and is_lossless is null) > 0 then 'lossless_buffer' end,
            case when count(*) filter (pfc and headroom_bytes is null) > 0 and state <> 'automatic' then 'headroom' end
        )
    end as unread_facts,
    string_agg(class::VARCHAR, ',' order by class) filter ((pfc or pfc is null) and (has_none or has_none is null)) as classes
from judged
group by target, port, kind, state, role, inferred
