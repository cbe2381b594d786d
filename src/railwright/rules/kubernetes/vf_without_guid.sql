/* +++
id = "vf-without-guid"
aliases = ["K8S-03"]
title = "VF without a GUID"
severity = "high"
subject = "rdma_device"
needs = [
  "rdma_device.pci", "rdma_device.node_guid", "pci_function.physical_function", "pci_function.driver",
  "rdma_port.link_layer",
]
message = "{subject}: {observed} of this VF is zero"
action = "ask"
setting = "nic.vf_guid"
since = "0.2"
sources = [
  "review K8S-03 (Ethernet VFs: medium)",
  "incident I-089",
  "Linux drivers/infiniband/core/sysfs.c: GID 0 of an InfiniBand port holds its GUID",
]

[grades]
high = "InfiniBand: node or port GUID"
medium = "Ethernet: the node GUID"
+++
## Why it matters
The subnet manager does not bring up an InfiniBand port without a GUID, and pods that get this VF do not start. On Ethernet,
libraries distinguish devices by node GUID: two VFs without one look like a single device, and some plugins refuse to hand
them out.

## What to do
1. On the host run `ip link set PF vf N node_guid GUID` and, on InfiniBand, the same with `port_guid GUID`, or let the
   SR-IOV operator or CNI do it. If the subnet manager checks GUIDs, it must know them.
2. Rebind the VF (`echo VF > /sys/bus/pci/drivers/mlx5_core/unbind`, then bind). Whatever is using it loses it.

GUIDs set this way are lost at reboot and when the number of VFs changes.

## Exceptions
VFs that are not meant to be used: reduce their number, or leave them without a driver.
*/
-- A device whose own files were not read is still known by its ports.
with devices as (
    select target, device from rdma_device
    union
    select target, device from rdma_port
),

-- A million NICs have fifty million PCI functions, at the same few addresses on every host of a kind.
functions as (
    select f.target, f.pci, f.physical_function, f.driver
    from pci_function as f
    semi join (select distinct pci from rdma_device) as r on r.pci = f.pci -- null: a device without an address has no function
),

ports as (
    select
        p.target,
        p.device,
        min(p.link_layer) as link_layer,
        any_known(g.index is null) as has_port_without_guid -- the table leaves out a GID whose lower half is zero
    from rdma_port as p
    left join gid as g on g.target = p.target and g.device = p.device and g.port = p.port and g.index = 0
    group by p.target, p.device
)

select
    d.target,
    d.device,
    case when r.node_guid = '0000:0000:0000:0000' then 'the node GUID' else 'a port GUID' end as observed,
    'not zero' as expected,
    case
        when r.pci = '' or f.physical_function = '' or f.driver <> 'mlx5_core' then false
        when f.physical_function <> '' and f.driver = 'mlx5_core' then true
    end as applies,
    case
        when p.link_layer = 'InfiniBand' and r.node_guid is not null
            then r.node_guid = '0000:0000:0000:0000' or p.has_port_without_guid
        when p.link_layer = 'Ethernet' then r.node_guid = '0000:0000:0000:0000'
    end as fault,
    f.physical_function as detail,
    case p.link_layer when 'Ethernet' then 'medium' else 'high' end as severity
from devices as d
left join rdma_device as r on r.target = d.target and r.device = d.device
left join functions as f on f.target = r.target and f.pci = r.pci
left join ports as p on p.target = d.target and p.device = d.device
