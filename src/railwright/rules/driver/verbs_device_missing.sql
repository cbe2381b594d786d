/* +++
id = "verbs-device-missing"
aliases = ["N-11"]
title = "Compute port without a uverbs device"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "rdma_node.device", "rdma_node.kind"]
message = "{subject} has {observed}; expected {expected}"
action = "set"
setting = "host.module_at_boot"
since = "0.2"
sources = [
  "review N-11 (NVSentinel nic-health-monitor, character devices)",
  "Linux Documentation/infiniband/user_verbs.rst and user_mad.rst",
]

[uses]
"rdma_node.port" = "used for umad only: uverbs has one node for all ports"
"kernel_module.state" = "used where a host has no node of a kind at all: the module that creates them is then not loaded"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Applications reach the RDMA device through `/dev/infiniband/uverbs*`; InfiniBand tools (ibstat of other nodes, perfquery,
sminfo) use umad*. Without uverbs, every library falls back to TCP or fails, while the port is up and looks healthy.

## What to do
Load the module with `modprobe ib_uverbs` (or `ib_umad`), and have it loaded at boot: by rdma-core's
rdma-load-modules@infiniband.service, or by the driver package's openibd. If only one device lacks its node, look for driver
errors in `dmesg` and restart the driver while no job runs.

## Exceptions
udev creates the node below /dev from the data that this rule reads. A node that was removed by hand, or has wrong
permissions, is not detected here but by `verbs-cannot-open`. In pods, the cgroup may deny what the host has. umad is
expected on InfiniBand only. Ports for management are not checked (e.g. an Intel E810, for which irdma loads itself), nor are
smi devices: they are second RDMA devices of a ConnectX-8 for the subnet manager, without ports that carry data.
*/
with made as (
    select target, kind, count(*) as nodes, count(*) filter (device is null or port is null) as unread
    from rdma_node
    group by target, kind
),

-- Without any node, the list of modules must say the same.
loaded as (
    select
        target,
        count(*) filter (name = 'ib_uverbs' and state is not null) as uverbs,
        count(*) filter (name = 'ib_umad' and state is not null) as umad
    from kernel_module
    group by target
),

nodes as (
    select
        p.target,
        p.device,
        p.port,
        case
            when count(v.name) > 0 then true
            when max(mv.unread) > 0 then null
            when max(mv.nodes) > 0 or max(l.uverbs) = 0 then false
        end as has_verbs,
        case
            when count(m.name) > 0 then true
            when max(mm.unread) > 0 then null
            when max(mm.nodes) > 0 or max(l.umad) = 0 then false
        end as has_management
    from port_scope as p
    left join rdma_node as v on v.target = p.target and v.kind = 'uverbs' and v.device = p.device
    left join rdma_node as m on m.target = p.target and m.kind = 'umad' and m.device = p.device and m.port = p.port
    left join made as mv on mv.target = p.target and mv.kind = 'uverbs'
    left join made as mm on mm.target = p.target and mm.kind = 'umad'
    left join loaded as l on l.target = p.target
    group by p.target, p.device, p.port
)

select
    p.target,
    p.device,
    p.port,
    'no ' || case
        when not n.has_verbs and p.link_layer = 'InfiniBand' and not n.has_management then 'uverbs or umad device'
        when not n.has_verbs then 'uverbs device'
        else 'umad device'
    end as observed,
    case p.link_layer when 'InfiniBand' then 'uverbs and umad devices' else 'a uverbs device' end as expected,
    p.role = 'compute' as applies,
    case p.link_layer
        when 'Ethernet' then not n.has_verbs
        when 'InfiniBand' then not n.has_verbs or not n.has_management
    end as fault,
    p.inferred
from port_scope as p
left join nodes as n on n.target = p.target and n.device = p.device and n.port = p.port
