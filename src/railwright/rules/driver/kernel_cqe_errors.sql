/* +++
id = "kernel-cqe-errors"
aliases = ["DRV-10"]
title = "RDMA errors in the kernel log (CQE)"
severity = "low"
subject = "rdma_device"
needs = ["kernel_message.kind"]
message = "{subject}: {observed}"
action = "ask"
since = "0.3"
sources = [
  "Linux mlx5 ib cq.c: an error completion of a queue of the kernel's own is dumped, unless it was flushed or ran out of retries",
  "judgement: low, as a server of storage that went away does the same",
]

[unless]
"kernel_message.kind" = "every message has one; a log that was not collected has no messages"

[uses]
"kernel_message.device" = "every message of this kind names one"
"rdma_device.pci" = "which card it is; Soft-RoCE has none"
"pci_function.vendor" = "cards of other vendors do not have this message"
+++
## Why it matters
Jobs have their own queues, and errors on those are in the jobs' logs. This error is on a queue of a user inside the kernel:
storage over RDMA (NFS, NVMe over fabrics, Lustre, BeeGFS) or IPoIB. It means an invalid access or a broken peer, not a slow
network.

## What to do
Check what the storage client logged at the same time, and check the server it was connected to.

## Exceptions
Expected after a server was restarted or a client was unmounted by force. A single old error is harmless; repeated errors
are a fault.
*/
with failed as (
    select target, device, count(*) as times
    from kernel_message
    where kind = 'error_cqe'
    group by target, device
)

select
    d.target,
    d.device,
    printf('%d error completion%s (CQE) on kernel-owned queues', f.times, case when f.times > 1 then 's' else '' end) as observed,
    'none since boot' as expected,
    not is_of_other_vendor(c.vendor) as applies,
    case when f.device is not null then true when w.is_whole then false end as fault
from rdma_device as d
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = d.target
left join pci_function as c on c.target = d.target and c.pci = d.pci
left join failed as f on f.target = d.target and f.device = d.device
