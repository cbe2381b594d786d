/* +++
id = "tc-not-for-gpu"
aliases = ["QOS-08"]
title = "Traffic class not applied to GPU-driven queue pairs"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "roce_tos.traffic_class"]
message = "{subject} forces traffic class {observed}; expected {expected}"
action = "set"
setting = "library.setting"
implied_by = ["default-tc-lossy"]
since = "0.2"
sources = [
  "review QOS-08, G-JOBENV", "incident I-061",
  "NCCL src/transport/net_ib/gin.cc: NCCL_GIN_IB_TC falls back to NCCL_IB_TC", "NVSHMEM: NVSHMEM_IB_TRAFFIC_CLASS",
]

[uses]
"site.ibgda" = "the site file states whether jobs let GPUs drive the NIC"
"kernel_module.taints" = "distinguishes a driver without this file from a file that was not collected"
"library_setting.value" = "an unset variable is what the rule looks for"
"library_setting.precedence" = "an unset variable is what the rule looks for"
"probe_result.status" = "distinguishes an unset variable from one that was not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The driver forces its traffic class on queue pairs that the kernel sets up. Queue pairs that NVSHMEM (IBGDA) and NCCL
(GIN, GDAKI) create through DevX bypass it. They send with traffic class 0 on a lossy priority while all other traffic is
lossless, time out under load and hang the job. Only GPU-initiated traffic fails, which makes the cause hard to find.

## What to do
Set the same traffic class in the libraries too: `NCCL_IB_TC` (or `NCCL_GIN_IB_TC`) in `/etc/nccl.conf`,
`NVSHMEM_IB_TRAFFIC_CLASS` in the environment of jobs and pods. Jobs that start afterwards use it; nothing is reset.

## Exceptions
Values in a job's own environment take precedence and are not collected: if every job sets the traffic class, or on
Kubernetes workers whose pods set it, waive this rule. One matching variable counts for all libraries, since it is unknown
which of them jobs use.
*/
with library as (
    select
        r.target,
        -- A script that decides, or a file that was not read completely, could set any of them.
        count(l.name) filter (
            l.name = '' or l.precedence is null or (l.precedence = 1 and try_cast(l.value as integer) is null)
        ) as open,
        list(try_cast(l.value as integer) >> 2) filter (l.precedence = 1) as dscps
    from probe_result as r
    left join library_setting as l
        on l.target = r.target and l.name in ('', 'NCCL_IB_TC', 'NCCL_GIN_IB_TC', 'NVSHMEM_IB_TRAFFIC_CLASS')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
),

-- The kernel's own driver has no such traffic class.
forced as (
    select
        p.*,
        case when t.traffic_class is not null then t.traffic_class when m.taints not like '%O%' then -1 end as traffic_class
    from port_scope as p
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
    left join kernel_module as m on m.target = p.target and m.name = 'mlx5_core'
)

select
    f.target,
    f.device,
    f.port,
    f.traffic_class || case when l.dscps is null then ', but no library sets one' else ', but the libraries set another one' end as observed,
    'the same in the libraries' as expected,
    s.ibgda is true and f.link_layer = 'Ethernet' and f.role = 'compute' and f.traffic_class >= 0 as applies,
    case
        when list_contains(l.dscps, f.traffic_class >> 2) then false
        when l.open = 0 then true
    end as fault,
    f.inferred
from forced as f
cross join site as s
left join library as l on l.target = f.target
