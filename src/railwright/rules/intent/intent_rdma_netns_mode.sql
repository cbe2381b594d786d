/* +++
id = "intent-rdma-netns-mode"
aliases = ["INTENT.rdma_netns_mode"]
title = "RDMA namespace mode does not match intent"
severity = "high"
subject = "host"
needs = ["pcie_endpoint.kind", "rdma_system.netns_mode"]
message = "{subject}: the RDMA namespace mode is {observed}; intent is {expected}"
action = "set"
setting = "host.rdma_netns"
covers = ["N-19"]
since = "0.2"
sources = ["review N-19", "rdma-system(8)"]

[uses]
"site.rdma_netns_mode" = "not checked unless the site file sets it"
"probe_result.status" = "distinguishes a host without RDMA cards from one whose PCI functions were not collected"
+++
## Why it matters
The network plugin of the cluster is built for one mode. In the wrong mode, an RDMA device does not follow its network
device into the pod, or every pod sees the devices of all others.

## What to do
Set the mode at boot. `rdma system set netns MODE` is lost at reboot, and the kernel refuses it (device busy) while any
other network namespace exists, with RDMA or without: on a worker that runs pods, practically always.
1. Set `options ib_core netns_mode=1` (shared) or `=0` (exclusive) in modprobe.d.
2. If ib_core is in the initramfs, rebuild the initramfs.
3. Drain and reboot the host.

## Exceptions
Hosts outside the cluster that share the site file: waive the finding.
*/
with cards as (
    select target, any_known(kind = 'nic') as has_one
    from pcie_endpoint
    group by target
),

answered as (
    select target, bool_or(status = 'ok') as pci -- null: no row without an answer
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
