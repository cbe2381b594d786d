/* +++
id = "K8S-03b"
title = "An Ethernet virtual function has no node GUID"
severity = "medium"
subject = "rdma_device"
needs = [
  "rdma_device.pci", "rdma_device.node_guid", "pci_function.physical_function", "pci_function.driver",
  "rdma_port.link_layer",
]
message = "{subject}: the node GUID of this virtual function is zero"
since = "0.2"
sources = ["rules-review.md K8S-03 (Ethernet VFs: medium)", "incidents.md I-089"]
+++
## Why it matters
Libraries tell devices apart by their node GUID. Two functions with none look like one, and some plugins refuse to hand
them out.

## What to do
`ip link set PF vf N node_guid GUID` on the host, or let the SR-IOV operator do it; then bind the function anew: who
uses it then loses it. It is lost at reboot and when the number of virtual functions changes.

## When it is wrong
Functions that nobody is meant to use.
*/
-- A device whose own files were not read is still known by its ports.
with devices as (
    select target, device from rdma_device
    union
    select target, device from rdma_port
),

layers as (
    select target, device, min(link_layer) as link_layer
    from rdma_port
    group by target, device
)

select
    d.target,
    d.device,
    r.node_guid as observed,
    'not zero' as expected,
    case
        when r.pci = '' or f.physical_function = '' or p.link_layer = 'InfiniBand' or f.driver <> 'mlx5_core' then false
        when f.physical_function <> '' and p.link_layer = 'Ethernet' and f.driver = 'mlx5_core' then true
    end as applies,
    r.node_guid = '0000:0000:0000:0000' as fault,
    f.physical_function as detail
from devices as d
left join rdma_device as r on r.target = d.target and r.device = d.device
left join pci_function as f on f.target = r.target and f.pci = r.pci
left join layers as p on p.target = d.target and p.device = d.device
