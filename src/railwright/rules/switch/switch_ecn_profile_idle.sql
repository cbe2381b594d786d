/* +++
id = "switch-ecn-profile-idle"
aliases = ["SWQ-04"]
title = "ECN profile bound but not enabled"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role",
  "port_class.pfc", "port_class.ecn_enabled", "port_class.red_enabled",
]
message = "{subject} has a profile that marks in class {observed}; its green part is not enabled"
action = "set"
setting = "switch.ecn"
on_path = {packets = ["data"], sides = ["out"]}
since = "0.3"
sources = ["review SWQ-04", "incident I-110"]

[uses]
"switch_fact.state" = "only a system with this setting can have it wrong; if the system is unknown, the check is inconclusive"
"end_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
SONiC accepts a profile with `ecn_all` but marks nothing until `wred_green_enable` is `true`: RoCE packets are green. The
configuration looks correct, and no sender ever slows down.

## What to do
Add `wred_green_enable: true` to the profile (`WRED_PROFILE` in CONFIG_DB); `ecnconfig` does not set it. The change takes
effect at once.

## Exceptions
Only systems that have this setting are checked: of the supported ones, SONiC. Queues without a marking profile are reported
by `switch-ecn-off`.
*/
with judged as (
    select e.*, f.state
    from end_class as e
    left join switch_fact as f on f.target = e.target and f.fact = 'marking_switch'
)

select
    target,
    port,
    string_agg(class::VARCHAR, ',' order by class) filter (pfc and ecn_enabled and not red_enabled) as observed,
    'enabled' as expected,
    kind = 'switch' and state <> 'lacking' and role in ('compute', 'fabric') and any_known(pfc and ecn_enabled) as applies,
    any_known(pfc and ecn_enabled and not red_enabled) as fault,
    inferred,
    case
        when kind is null or role is null or state is null or count(pfc) < count(*) then null
        else concat_ws(
            ',',
            case when count(*) filter (pfc and ecn_enabled is null) > 0 then 'ecn' end,
            case when count(*) filter (pfc and ecn_enabled and red_enabled is null) > 0 then 'marking_switch' end
        )
    end as unread_facts,
    string_agg(class::VARCHAR, ',' order by class)
        filter ((pfc or pfc is null) and (ecn_enabled or ecn_enabled is null) and (red_enabled is null or not red_enabled)) as classes
from judged
group by target, port, kind, state, role, inferred
