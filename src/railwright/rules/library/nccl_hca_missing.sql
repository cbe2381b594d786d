/* +++
id = "nccl-hca-missing"
aliases = ["NCC-01"]
title = "NCCL_IB_HCA names a missing device"
severity = "high"
subject = "host"
needs = ["library_setting.value", "library_setting.precedence", "probe_result.status"]
message = "{subject}: NCCL_IB_HCA is {observed}; {expected}"
action = "ask"
setting = "library.setting"
since = "0.2"
sources = [
    "review NCC-01", "incident I-028 I-058", "reference B9",
    "NCCL src/misc/utils.cc: parseStringList, matchIfList", "NCCL src/transport/net_ib/init.cc: ncclIbInitDevices",
]

[uses]
"host_scope.netns_mode" = "only excuses a list that does not match"
+++
## Why it matters
NCCL uses the ports that the list names and silently ignores names that match nothing. If one name is wrong, a rail is
missing. If all are wrong, the job runs over TCP: a fraction of the speed, and no error.

## What to do
Compare the list with `ls /sys/class/infiniband`. Names differ between hosts with different wiring or naming rules: either
fix the naming (udev) or give each node class its own file. If the device should exist, find out why it is missing. New
jobs read the file; running jobs do not. A uniform pool often needs no list at all.

## Exceptions
Only the host's configuration files are read: values that a job sets itself override them, and a container has its own
/etc/nccl.conf. Devices that moved into pods are not visible on the host; if RDMA devices move with their namespace, a
list that does not match is not reported.
*/
with hca_list as (
    select target, value from library_value('NCCL_IB_HCA') -- '' = not set
),
-- A leading ^ excludes, a = after it requires full names instead of prefixes, :n after a name selects that port.
entries as (
    select
        target,
        value like '^%' as excludes,
        regexp_matches(value, '^\^?=') as whole,
        unnest(string_split(regexp_replace(value, '^\^?=?', ''), ',')) as entry
    from hca_list
),
matches as (
    select
        e.target,
        e.excludes,
        string_agg(e.entry, ', ' order by e.entry) filter (p.device is null) as without_device,
        count(distinct p.device || '/' || p.port) as ports
    from entries as e
    left join rdma_port as p
        on p.target = e.target
        and case
            when e.whole then p.device = split_part(e.entry, ':', 1)
            else starts_with(p.device, split_part(e.entry, ':', 1))
        end
        and (split_part(e.entry, ':', 2) = '' or split_part(e.entry, ':', 2) = p.port::varchar)
    where split_part(e.entry, ':', 1) <> ''
    group by e.target, e.excludes
),
ports as (
    select r.target, count(p.device) as ports
    from probe_result as r
    left join rdma_port as p on p.target = r.target
    where r.probe = 'infiniband' and r.status in ('ok', 'absent')
    group by r.target
),
judged as (
    select
        t.target,
        l.value,
        m.excludes,
        m.without_device,
        l.value <> '' and a.ports > 0 as has_list,
        -- Excluding a missing device is harmless, excluding everything is not.
        case
            when a.ports > 0 and m.excludes then m.ports = a.ports
            when a.ports > 0 then m.without_device is not null
        end as fault
    from host_scope as t
    left join hca_list as l on l.target = t.target
    left join matches as m on m.target = t.target
    left join ports as a on a.target = t.target
)
select
    j.target,
    j.value as observed,
    case
        when j.excludes then 'this excludes every device' else 'no device matches ' || j.without_device
    end as expected,
    j.has_list and (not j.fault or h.netns_mode = 'shared') as applies,
    j.fault
from judged as j
left join host_scope as h on h.target = j.target
