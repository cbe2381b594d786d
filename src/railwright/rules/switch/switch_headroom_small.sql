/* +++
id = "switch-headroom-small"
aliases = ["SWQ-13"]
title = "PFC headroom too small"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "end_scope.speed_mbps", "end_scope.mtu", "end_scope.cable_length_m",
  "port_class.pfc", "port_class.headroom_bytes", "switch.model",
]
message = "{subject} has {observed}; expected at least {expected}"
action = "set"
setting = "switch.headroom"
implied_by = ["switch-no-headroom", "switch-cable-length"]
since = "0.3"
sources = [
  "SONIC-HEADROOM: SONiC's own calculation for Spectrum chips",
  "incident I-115", "IEEE 802.3 31B.3.7 (response time of the peer)",
  "judgement: no margin is asked for, and other systems on the same chip are held to the same need",
]

[uses]
"switch_fact.state" = "shows whether the switch calculates headroom itself; if that is unknown, the bytes are needed"
"switch_port_qos.pfc_cable_length_m" = "used if the switch calculates headroom itself"
"end_scope.cable_length_kind" = "if it was not read, the plan gives the length"
"planned_link.length_m" = "the length in the plan, if the cable does not report its own"
"port_class.has_shared_headroom" = "if a pool is shared, its size counts, not the port's own"
"end_scope.device" = "only to find a host port in the plan"
"end_scope.inferred" = {purpose = "severity"}

[unless]
"switch.model" = "the switch calculates headroom itself"
"port_class.headroom_bytes" = "the switch calculates headroom itself"

[parameters.least_share]
default = 1.0
unit = "of the required bytes"
reason = "judgement: the calculation is the worst case already; a site that measured may go lower"
+++
## Why it matters
Data in flight when a pause is sent must find room. The faster the port, the longer the cable and the larger the packets at
either end, the more room it needs. Headroom for 5 m on a 50 m cable drops a few packets of every burst, and only then.

## What to do
Set the true cable length (SONiC: `CABLE_LENGTH`, and the headroom follows in the dynamic buffer model; otherwise a profile
for that speed and length), or raise the headroom of the profile. Buffer changes can drop traffic: make them in a
maintenance window. Never use `config qos reload` of SONiC: it deletes the site's own settings.

## Exceptions
The requirement is calculated for small packets only, which is the worst case and what SONiC assumes. For chips other than
Spectrum it is not published, and the check is inconclusive. Ports with a shared headroom pool are not checked. If the
switch calculates headroom itself (Cumulus, Onyx), the configured length is compared with the real one. The length is that
of the cable assembly, otherwise of the cabling plan, otherwise the configured one; the rated reach of an optic is not a
length.
*/
with planned as (
    select target, port, max(length_m) as length_m from end_plan group by target, port
),

told as (
    select target, max(pfc_cable_length_m) as length_m from switch_port_qos where port = '' group by target
),

ports as (
    select
        c.*,
        g.generation,
        f.state,
        a.length_m as told_m,
        case
            when c.cable_length_kind = 'assembly' then c.cable_length_m
            when p.length_m is not null then p.length_m
            when c.cable_length_kind = 'configured' then c.cable_length_m
        end as length_m
    from end_class as c
    left join planned as p on p.target = c.target and p.port = c.port
    left join switch_chip as g on g.target = c.target
    left join switch_fact as f on f.target = c.target and f.fact = 'headroom'
    left join told as a on a.target = c.target
),

needs as (
    select *, spectrum_xoff(generation, speed_mbps, length_m, mtu) as needed
    from ports
),

judged as (
    select
        *,
        case
            when speed_mbps is null or mtu is null then null
            when state = 'automatic' and headroom_bytes is null then told_m < length_m
            else headroom_bytes < $least_share * needed
        end as is_short
    from needs
)

select
    target,
    port,
    case
        when min(headroom_bytes) filter (pfc) is null then printf('headroom for %.0f m', max(told_m))
        else printf('%d bytes of headroom', min(headroom_bytes) filter (pfc))
    end as observed,
    case
        when min(headroom_bytes) filter (pfc) is null then printf('%.0f m', max(length_m))
        else printf('%d bytes for %d Gb/s and %.0f m', max(needed), max(speed_mbps) // 1000, max(length_m))
    end as expected,
    kind = 'switch' and role in ('compute', 'fabric')
        and any_known(pfc and (has_shared_headroom is null or not has_shared_headroom)) as applies,
    any_known(pfc and is_short) as fault,
    inferred,
    case
        when kind is null or role is null or state is null or count(pfc) < count(*) or max(speed_mbps) is null or max(mtu) is null then null
        when state = 'automatic' and max(told_m) is null then 'cable_length'
        when state = 'automatic' or generation is null then null
        else concat_ws(
            ',',
            case when count(*) filter (pfc and headroom_bytes is null) > 0 then 'headroom' end,
            case when generation = 0 then 'headroom_need' end,
            case when max(length_m) is null then 'cable_length' end
        )
    end as unread_facts
from judged
group by target, port, kind, state, role, inferred, generation
