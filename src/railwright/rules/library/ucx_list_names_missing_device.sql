/* +++
id = "NCC-09"
title = "UCX_NET_DEVICES names a device that is not there"
severity = "high"
subject = "host"
needs = ["library_setting.value", "library_setting.precedence", "probe_result.status"]
message = "{subject}: UCX_NET_DEVICES is {observed}; {expected}"
covers = ["NCC-01"]
since = "0.2"
sources = ["review NCC-01", "incident I-028", "UCX src/ucp/core/ucp_context.c: ucp_is_resource_in_device_list"]

[uses]
"host_scope.netns_mode" = "only excuses a list that does not fit"
+++
## Why it matters
UCX compares whole names: `mlx5_0:1` for port 1 of an RDMA device, `ens1` for a network device. `mlx5_0` without the port
names nothing. UCX warns once and goes on with what is left, which may be TCP on the management network.

## What to do
Compare the list with `ucx_info -d`, and write RDMA devices with their port. New jobs read the file, running ones do not.
Without a list UCX takes the nearest devices that are up.

## When it is wrong
Only the host's configuration files are read: what a job sets itself wins over them, and a container has its own
/etc/ucx/ucx.conf. Lists that exclude (^) or hold patterns are not understood here and stay unknown. Where RDMA devices
move with their namespace, a list that does not fit is not reported.
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
-- Both kinds of names must have been read before one can be missed.
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
    'there is no device ' || m.entries as expected,
    case when l.value is null or regexp_matches(l.value, '[*?^]') then null else l.value <> '' and l.value <> 'all' end
        and (m.entries is null or h.netns_mode = 'shared') as applies,
    case when m.target is not null then m.entries is not null end as fault
from host_scope as t
left join device_list as l on l.target = t.target
left join missing as m on m.target = t.target
left join host_scope as h on h.target = t.target
