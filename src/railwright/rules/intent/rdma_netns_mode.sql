/* +++
id = "INTENT.rdma_netns_mode"
title = "RDMA devices and network namespaces do not go together as the site wants"
severity = "high"
subject = "host"
needs = ["pcie_endpoint.kind", "rdma_system.netns_mode"]
message = "{subject}: the RDMA namespace mode is {observed}, the site wants {expected}"
covers = ["N-19"]
since = "0.2"
sources = ["review N-19", "rdma-system(8)"]

[uses]
"site.rdma_netns_mode" = "nothing is wanted where the site says nothing"
"probe_result.status" = "tells a host without RDMA cards from one whose PCI functions were not read"
+++
## Why it matters
The network plugin of the cluster is made for one mode. In the wrong one an RDMA device does not follow its network
device into the pod, or every pod sees the devices of all others.

## What to do
The mode belongs to the boot: `options ib_core netns_mode=1` (shared) or `=0` (exclusive) in modprobe.d, the initramfs made
anew where ib_core is in it, drain and reboot. `rdma system set netns MODE` is lost at reboot, and the kernel refuses it
(device busy) while there is any other network namespace, with RDMA or not: on a worker that runs pods, practically always.

## When it is wrong
Hosts outside the cluster that share the site file.
*/
with cards as (
    select target, any_known(kind = 'nic') as has_one
    from pcie_endpoint
    group by target
),

answered as (
    select target, bool_or(status = 'ok') as pci -- null: no answer is no row
    from probe_result
    where probe = 'pci'
    group by target
)

select
    t.target,
    r.netns_mode as observed,
    s.rdma_netns_mode as expected,
    case
        when s.rdma_netns_mode is null then false
        when c.target is not null then c.has_one
        when a.pci then false
    end as applies,
    r.netns_mode <> s.rdma_netns_mode as fault
from host_scope as t
cross join site as s
left join cards as c on c.target = t.target
left join answered as a on a.target = t.target
left join rdma_system as r on r.target = t.target
