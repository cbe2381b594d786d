/* +++
id = "switch-no-headroom"
aliases = ["SWQ-06"]
title = "Lossless class without headroom"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "port_class.pfc", "port_class.is_lossless",
]
message = "{subject} has {observed}"
implied_by = ["switch-pfc-mismatch", "link-lossless-differs"]
action = "set"
setting = "switch.headroom"
on_path = {packets = ["data"], sides = ["in"]}
since = "0.3"
sources = ["review SWQ-06", "incident I-111, I-115"]

[uses]
"port_class.headroom_bytes" = "not used if the switch calculates it itself"
"switch_fact.state" = "shows whether the switch calculates headroom itself; if that is unknown, the check is inconclusive"
"port_class.has_shared_headroom" = "used if the port has no headroom of its own"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Between the pause and its effect the link partner keeps sending, for the round-trip time of the signal. Headroom is the
memory for that data. Without it those packets are dropped, in the very class that must not lose any.

## What to do
Find out why the buffer profile has no headroom: a speed or cable length without an entry in the lookup table, a priority
group without its lossless profile, or a profile that was never calculated. Buffer changes can drop traffic: make them in a
maintenance window. Never use `config qos reload` of SONiC: it deletes the site's own settings.

## Exceptions
If a headroom pool is shared between ports, a port does not need its own. On systems that calculate headroom themselves and
do not print it (Cumulus, Onyx), the only check is whether the buffer is lossless. EOS reports neither the buffer nor its
headroom, and the check is inconclusive.
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
    string_agg('PFC on priority ' || class || ' but no headroom for it', ', ' order by class) filter (pfc and has_none) as observed,
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
