/* +++
id = "GDR-04"
title = "A NIC for guests has address translation (ATS) off"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "host_scope.gpus", "nic_parameter.current_code"]
message = "{subject} serves a guest and has ATS_ENABLED={observed}"
cost = "27 instead of 48 GB/s (incident I-006); a quarter of bare metal (incident I-008)"
since = "0.2"
sources = ["review GDR-04", "incident I-006", "incident I-007", "incident I-008",
    "NVIDIA AI Enterprise, Optimizing VM configuration, appendix (ATS and ACS)",
    "NVIDIA Grace Blackwell CX8 GPUDirect RDMA guide"]

[uses]
"nic_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"nic_scope.device_id" = "asked only in a guest: whether it is a virtual function"
"nic_scope.is_grace" = "Grace has no PCIe ATS"
"node_class.passes_physical_functions" = "a class may say that guests get no whole NICs"
"probe_result.status" = "tells a card without this parameter from one that was not read"
+++
## Why it matters
In a guest the IOMMU stands between NIC and GPU. With ATS the NIC fetches each translation once and sends straight to the
GPU below the same switch; without it all traffic climbs to the root complex, at a quarter to a half of the rate.

## What to do
On the hypervisor, with the guests down: `mlxconfig -d PCI set ATS_ENABLED=1`, then reboot the host. Restarting the guest
is not enough: the card itself must start again. Then set ACS for ATS on the ports of the paths to the GPUs and NICs that
are passed through, and on no other (N-13).

## When it is wrong
Virtual functions in a cloud guest are their provider's matter and left out. On Grace the NIC reaches the GPU in another
way. A hypervisor whose guests use no GPUs wants a waiver.
*/
select
    n.target,
    n.pci,
    a.current_code as observed,
    1 as expected,
    h.gpus > 0
        and n.is_grace is not true
        and not is_of_other_vendor(n.vendor)
        and c.passes_physical_functions is not false
        and (
            (n.virtualization = 'hypervisor' and n.driver = 'vfio-pci')
            -- Virtual functions have no firmware settings.
            or (n.virtualization = 'guest' and not is_virtual_function(n.device_id))
        )
        -- The tool answered and does not name it: this card has no such parameter.
        and not (a.pci is null and p.status is not null) as applies,
    a.current_code = 0 as fault
from nic_scope as n
left join host_scope as h on h.target = n.target
left join node_class as c on c.target = n.target
left join nic_parameter as a on a.target = n.target and a.pci = n.pci and a.name = 'ATS_ENABLED' and a.port = 0 and a.element = -1
left join probe_result as p on p.target = n.target and p.probe = 'mlxconfig' and p.instance = n.pci and p.status = 'ok'
