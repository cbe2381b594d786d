/* +++
id = "verbs-cannot-open"
aliases = ["N-12"]
title = "RDMA devices cannot be opened"
severity = "high"
subject = "host"
needs = ["probe_result.status", "rdma_device.pci"]
message = "{subject}: {observed}"
action = "ask"
implied_by = ["verbs-device-missing"]
since = "0.2"
sources = [
  "review N-12",
  "incident I-108",
  "rdma-core libibverbs/examples/devinfo.c",
]

[uses]
"probe_result.reason" = "the tool's own message if it failed"
"port_scope.role" = "skips management ports; a device of unknown role must open"
+++
## Why it matters
The kernel has the device and the link is up, but libibverbs cannot open it: the provider library for its driver is missing,
the versions of kernel and library do not match, or the node /dev/infiniband/uverbs* is missing. Every RDMA library falls
back to TCP or fails.

## What to do
Run `ibv_devinfo` as the user who runs jobs. If it prints "no userspace device-specific driver found", install the provider
(rdma-core or the driver package, of the same release as the kernel modules). If it prints "Failed to open device", fix the
node and its permissions (udev, `modprobe ib_uverbs`). No link is affected.

## Exceptions
The host's own libraries do not matter if all jobs bring theirs in containers: waive the finding. The nodes still matter.
Whether the kernel created them is checked by `verbs-device-missing`. An smi device (for the subnet manager, on a ConnectX-8)
has no verbs and does not count, nor does a device whose ports are all for management or unused (e.g. an Intel E810, for which
irdma loads itself).
*/
with answered as (
    select
        target,
        bool_or(probe = 'infiniband' and status in ('ok', 'absent')) as sysfs, -- null: no answer, no row
        max(status) filter (probe = 'ibv_devinfo') as status,
        max(reason) filter (probe = 'ibv_devinfo') as reason
    from probe_result
    where probe in ('infiniband', 'ibv_devinfo')
    group by target
),

-- A management port is used by IP only (irdma loads itself on an Intel E810).
for_ip as (
    select target, device
    from port_scope
    group by target, device
    having all_known(role in ('management', 'unused'))
),

-- A device without a PCI function is software and does not count; one of type SMI is for the subnet manager and has no verbs.
devices as (
    select
        r.target,
        any_known(r.pci <> '') as has_one,
        count(*) filter (r.pci <> '') as count,
        any_known(case when v.device is null then r.pci <> '' else false end) as is_closed,
        list(r.device order by r.device) filter (v.device is null and r.pci <> '') as closed
    from rdma_device as r
    left join verbs_device as v on v.target = r.target and v.device = r.device
    anti join for_ip as i on i.target = r.target and i.device = r.device -- null: of unknown role, a device must open
    where r.device not like 'smi%'
    group by r.target
)

select
    t.target,
    case when a.status = 'ok' then 'libibverbs cannot open ' || len(d.closed) || case when len(d.closed) = 1 then ' device' else ' devices' end else 'ibv_devinfo reports: ' || a.reason end as observed,
    'all ' || d.count || ' devices open' as expected,
    case when d.target is not null then d.has_one when a.sysfs then false end as applies,
    case
        when a.status = 'ok' then d.is_closed
        when a.status = 'absent' and a.reason = 'no RDMA device' then true
        when a.status = 'failed' and a.reason like '%Failed to open%' then true -- the tool does not say which
    end as fault,
    case when a.status = 'ok' then array_to_string(d.closed, ', ') end as detail
from host_scope as t
left join answered as a on a.target = t.target
left join devices as d on d.target = t.target
