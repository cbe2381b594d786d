/* +++
id = "NCC-01"
title = "NCCL_IB_HCA names a device that is not there"
severity = "high"
subject = "host"
needs = ["library_setting.value", "library_setting.precedence", "probe_result.status"]
message = "{subject}: NCCL_IB_HCA is {observed}; {expected}"
since = "0.2"
sources = [
    "review NCC-01", "incident I-028 I-058", "reference B9",
    "NCCL src/misc/utils.cc: parseStringList, matchIfList", "NCCL src/transport/net_ib/init.cc: ncclIbInitDevices",
]

[uses]
"host_scope.netns_mode" = "only excuses a list that does not fit"
+++
## Why it matters
NCCL takes the ports that the list names and says nothing about names that match none. With one name wrong a rail is
missing, with all of them wrong the job runs over TCP: a fraction of the speed, and no error.

## What to do
Compare the list with `ls /sys/class/infiniband`. Names differ between hosts of other wiring or naming rules: either fix the
naming (udev) or give each node class its own file. If the device should be there, look for why it is gone. New jobs read
the file, running ones do not. A pool of one kind often needs no list at all.

## When it is wrong
Only the host's configuration files are read: what a job sets itself wins over them, and a container has its own
/etc/nccl.conf. Devices that moved into pods are not seen on the host; where RDMA devices move with their namespace, a
list that does not fit is not reported.
*/
with hca_list as (
    select target, value from library_value('NCCL_IB_HCA') -- '' = not set
),
-- ^ in front excludes, = behind it wants whole names instead of beginnings, :n behind a name wants that port.
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
        -- Excluding what is not there does no harm, excluding everything does.
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
        when j.excludes then 'something must be left' else 'there is no device for ' || j.without_device
    end as expected,
    j.has_list and (not j.fault or h.netns_mode = 'shared') as applies,
    j.fault
from judged as j
left join host_scope as h on h.target = j.target
