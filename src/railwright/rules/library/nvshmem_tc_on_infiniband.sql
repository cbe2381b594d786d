/* +++
id = "nvshmem-tc-on-infiniband"
aliases = ["NCC-07"]
title = "NVSHMEM traffic class set on InfiniBand"
severity = "high"
subject = "host"
needs = ["probe_result.status", "port_scope.role", "port_scope.link_layer"]
message = "{subject} sets {observed}; expected {expected}"
action = "set"
setting = "library.setting"
since = "0.2"
sources = ["review NCC-07", "incident I-041"]

[uses]
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"
+++
## Why it matters
NVSHMEM_IB_TRAFFIC_CLASS is meant for RoCE. On an InfiniBand port, NVSHMEM cannot bring up its queue pairs with it and
aborts at start (INIT to RTR).

## What to do
Remove the line from the file named in the finding. On InfiniBand the service level (NVSHMEM_IB_SL) selects the class. New
jobs read the file; running jobs do not.

## Exceptions
NCCL_IB_TC is harmless on InfiniBand and is not checked. The site file cannot state yet which service level a fabric uses.
Only the host's configuration files are read: values that a job sets itself are not seen.
*/
with setting as (
    select target, value, file from library_value('NVSHMEM_IB_TRAFFIC_CLASS') -- '' = not set
),
compute as (
    select
        r.target,
        any_known(
            case when p.device is null then false else p.role = 'compute' and p.link_layer = 'InfiniBand' end
        ) as has_infiniband
    from probe_result as r
    left join port_scope as p on p.target = r.target
    where r.probe = 'infiniband' and r.status in ('ok', 'absent')
    group by r.target
)
select
    t.target,
    'NVSHMEM_IB_TRAFFIC_CLASS=' || s.value || ' in ' || s.file as observed,
    'no traffic class' as expected,
    c.has_infiniband as applies,
    s.value <> '' and s.value <> '0' as fault
from host_scope as t
left join compute as c on c.target = t.target
left join setting as s on s.target = t.target
