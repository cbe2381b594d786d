/* +++
id = "SWQ-04"
title = "A marking profile is bound and not switched on"
severity = "high"
subject = "end"
peers = true
needs = [
  "end_scope.kind", "end_scope.role", "end_scope.system",
  "port_class.pfc", "port_class.ecn_enabled", "port_class.red_enabled",
]
message = "{subject} has a profile that marks in class {observed}, and its green part is not enabled"
setting = "switch.ecn"
since = "0.3"
sources = ["review SWQ-04", "incident I-110"]

[uses]
"end_scope.inferred" = "caps the severity"
+++
## Why it matters
SONiC takes a profile with `ecn_all` and marks nothing as long as `wred_green_enable` is not `true`: RoCE packets are green. The
configuration looks right and no sender ever slows down.

## What to do
Add `wred_green_enable: true` to the profile (`WRED_PROFILE` in CONFIG_DB); `ecnconfig` does not set it. It acts at once.

## When it is wrong
Only SONiC has this switch. Queues without a marking profile are SWQ-03's.
*/
select
    target,
    port,
    string_agg(class::VARCHAR, ',' order by class) filter (pfc and ecn_enabled and not red_enabled) as observed,
    'enabled' as expected,
    kind = 'switch' and system = 'sonic' and role in ('compute', 'fabric') and any_known(pfc and ecn_enabled) as applies,
    any_known(pfc and ecn_enabled and not red_enabled) as fault,
    inferred
from end_class
group by target, port, kind, system, role, inferred
