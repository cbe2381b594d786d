/* +++
id = "switch-storage-class-mixed"
aliases = ["SWQ-16"]
title = "Storage class differs between hops"
severity = "medium"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.data_class", "end_scope.storage_class"]
message = "{subject} has storage {observed}; most ports have it {expected}"
action = "ask"
setting = "switch.dscp_map"
implied_by = ["switch-data-class"]
since = "0.3"
sources = ["judgement: whether two kinds of traffic share a class is one decision for a whole fabric"]

[uses]
"site.data_dscp" = "nothing to compare if the site file does not set it"
"site.storage_dscp" = "nothing to compare if the site file does not set it"
"end_scope.inferred" = {purpose = "severity"}

[parameters.least_members]
default = 4
unit = "switch ports"
reason = "judgement: three are too few for a meaningful majority"
+++
## Why it matters
If storage and training share a class, one slows the other and shares its pauses; if they do not, each has its own. A hop
that differs from the rest hurts both: pauses spread into traffic that is separate everywhere else.

## What to do
Give the switch the same DSCP map as the others (`switch-data-class` describes how).

## Exceptions
Expected while a fabric is being changed from one scheme to the other. Without a majority nothing is reported.
*/
with ends as (
    select *, data_class = storage_class as is_shared
    from end_scope
    where kind = 'switch' or kind is null
),

usual as (
    select
        case when count(*) >= $least_members then mode_known(is_shared) end as is_shared,
        count(*) >= $least_members and count(is_shared) < count(*) as is_open
    from ends
    where role in ('compute', 'storage', 'fabric') or role is null
)

select
    e.target,
    e.port,
    case when e.is_shared then 'with data in class ' || e.data_class else 'in class ' || e.storage_class || ', data in class ' || e.data_class end as observed,
    case when u.is_shared then 'in one class with data' else 'in a separate class' end as expected,
    s.data_dscp is not null and s.storage_dscp is not null and e.kind = 'switch' and e.role in ('compute', 'storage', 'fabric')
        and case when e.is_shared is null then null when u.is_shared is not null then true when not u.is_open then false end as applies,
    e.is_shared <> u.is_shared as fault,
    e.inferred
from ends as e
cross join usual as u
cross join site as s
