/* +++
id = "nccl-hca-wrong"
aliases = ["NCC-02"]
title = "NCCL_IB_HCA selects unintended devices"
severity = "medium"
subject = "host"
needs = [
    "library_setting.value", "library_setting.precedence", "probe_result.status",
    "host_scope.gpus", "host_scope.netns_mode", "port_scope.role", "port_scope.link_layer",
]
message = "{subject}: NCCL_IB_HCA is {observed}: {expected}"
action = "set"
setting = "library.setting"
since = "0.2"
sources = [
    "review NCC-02", "incident I-029 I-033", "reference B9",
    "NCCL src/misc/utils.cc: parseStringList, matchIfList", "NCCL src/transport/net_ib/init.cc: ncclIbInitDevices",
]

[uses]
"port_scope.state" = "matters only for a port that is not for compute"
+++
## Why it matters
A name in the list is a prefix unless the list starts with `=`: mlx5_1 also selects mlx5_10 to mlx5_19. NCCL spreads its
channels over everything it selected, so a storage or management port becomes the slowest rail of every collective. RoCE
and InfiniBand ports together cannot even connect.

## What to do
Write the list with `=` and the full names of the compute devices, or exclude the others with `^=`. New jobs read the
file; running jobs do not.

## Exceptions
A plain `mlx5` is fine if all ports are for compute, and is not reported then. Roles are inferred unless the site file names
them: an InfiniBand port that serves storage and jobs may be selected on purpose. A NIC whose GPU is missing keeps its role,
and is not reported. Virtual functions are checked by name only. Only the host's configuration files are read: values that a
job sets itself, and a container's own /etc/nccl.conf, are not seen.
*/
with hca_list as (
    select target, value from library_value('NCCL_IB_HCA') -- '' = not set
),
-- A leading ^ excludes, a = after it requires full names instead of prefixes, :n after a name selects that port.
entries as (
    select
        target,
        regexp_matches(value, '^\^?=') as whole,
        unnest(string_split(regexp_replace(value, '^\^?=?', ''), ',')) as entry
    from hca_list
),
matches as (
    select e.target, split_part(e.entry, ':', 1) as name, p.device, p.port
    from entries as e
    join rdma_port as p
        on p.target = e.target
        and case
            when e.whole then p.device = split_part(e.entry, ':', 1)
            else starts_with(p.device, split_part(e.entry, ':', 1))
        end
        and (split_part(e.entry, ':', 2) = '' or split_part(e.entry, ':', 2) = p.port::varchar)
    where split_part(e.entry, ':', 1) <> ''
),
-- Device names that are also a prefix of another device name.
ambiguous as (
    select target, min(name) as name
    from (
        select target, name from matches group by target, name
        having count(*) filter (device = name) > 0 and count(*) filter (device <> name) > 0
    )
    group by target
),
-- NCCL only uses ports that are up.
chosen as (
    select
        p.target,
        p.device,
        p.role,
        p.link_layer,
        p.state = 'ACTIVE' and (m.device is not null) <> (l.value like '^%') as is_taken
    from port_scope as p
    left join hca_list as l on l.target = p.target
    left join (select distinct target, device, port from matches) as m
        on m.target = p.target and m.device = p.device and m.port = p.port
),
taken as (
    select
        target,
        any_known(is_taken and role <> 'compute') as other_role,
        min(device) filter (is_taken and role <> 'compute') as other_device,
        any_known(is_taken and link_layer = 'Ethernet') and any_known(is_taken and link_layer = 'InfiniBand') as is_mixed
    from chosen
    group by target
)
select
    t.target,
    l.value as observed,
    case
        when a.name is not null then a.name || ' is also a prefix of another device name'
        when k.other_role then 'it selects ' || k.other_device || ', which is not for compute'
        else 'it selects both RoCE and InfiniBand ports'
    end as expected,
    -- If devices may have moved into pods, the visible ones can prove the list wrong but not correct.
    l.value <> '' and h.gpus > 0 and case when k.target is null and r.status in ('ok', 'absent') then false else true end
        and (a.name is not null or k.other_role or k.is_mixed or h.netns_mode = 'shared') as applies,
    a.name is not null or k.other_role or k.is_mixed as fault
from host_scope as t
left join host_scope as h on h.target = t.target
left join hca_list as l on l.target = t.target
left join ambiguous as a on a.target = t.target
left join taken as k on k.target = t.target
left join probe_result as r on r.target = t.target and r.probe = 'infiniband' and r.instance = ''
