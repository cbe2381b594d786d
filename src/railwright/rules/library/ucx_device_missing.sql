/* +++
id = "ucx-device-missing"
aliases = ["NCC-09"]
title = "UCX_NET_DEVICES names a missing device"
severity = "high"
subject = "host"
needs = ["library_setting.value", "library_setting.precedence", "probe_result.status"]
message = "{subject}: UCX_NET_DEVICES is {observed}; {expected}"
action = "ask"
setting = "library.setting"
covers = ["NCC-01"]
since = "0.2"
sources = ["review NCC-01", "incident I-028", "UCX src/ucp/core/ucp_context.c: ucp_is_resource_in_device_list"]

[uses]
"host_scope.netns_mode" = "only excuses a list that does not match"
+++
## Why it matters
UCX compares full names: `mlx5_0:1` for port 1 of an RDMA device, `ens1` for a network device. `mlx5_0` without the port
matches nothing. UCX warns once and continues with what is left, which may be TCP on the management network.

## What to do
Compare the list with `ucx_info -d`, and write RDMA devices with their port. New jobs read the file; running jobs do not.
Without a list, UCX uses the nearest devices that are up.

## Exceptions
Only the host's configuration files are read: values that a job sets itself override them, and a container has its own
/etc/ucx/ucx.conf. Lists that exclude (^) or contain patterns are not supported here: the check is inconclusive. If RDMA
devices move with their namespace, a list that does not match is not reported.
*/
with device_list as (
    select target, value from library_value('UCX_NET_DEVICES') -- '' = not set
),
entries as (
    select target, unnest(string_split(value, ',')) as entry from device_list where value <> '' and value <> 'all'
),
names as (
    select target, device || ':' || port as name from rdma_port
    union
    select target, name from netdev
),
-- Both kinds of names must have been read before one can be called missing.
answered as (
    select target
    from probe_result
    where (probe = 'infiniband' and status in ('ok', 'absent')) or (probe = 'netdev' and status = 'ok')
    group by target
    having count(distinct probe) = 2
),
missing as (
    select e.target, string_agg(e.entry, ', ' order by e.entry) filter (n.name is null) as entries
    from entries as e
    join answered as a on a.target = e.target
    left join names as n on n.target = e.target and n.name = e.entry
    where e.entry <> ''
    group by e.target
)
select
    t.target,
    l.value as observed,
    'no device matches ' || m.entries as expected,
    case when l.value is null or regexp_matches(l.value, '[*?^]') then null else l.value <> '' and l.value <> 'all' end
        and (m.entries is null or h.netns_mode = 'shared') as applies,
    case when m.target is not null then m.entries is not null end as fault
from host_scope as t
left join device_list as l on l.target = t.target
left join missing as m on m.target = t.target
left join host_scope as h on h.target = t.target
