/* +++
id = "ats-off-for-guests"
aliases = ["GDR-04"]
title = "ATS off on a passthrough NIC"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "host_scope.gpus", "nic_parameter.current_code"]
message = "{subject} serves a guest and has ATS_ENABLED={observed}"
action = "set"
setting = "nic.parameter.ATS_ENABLED"
cost = "27 instead of 48 GB/s (incident I-006); a quarter of bare metal (incident I-008)"
since = "0.2"
sources = ["review GDR-04", "incident I-006", "incident I-007", "incident I-008",
    "NVIDIA AI Enterprise, Optimizing VM configuration, appendix (ATS and ACS)",
    "NVIDIA Grace Blackwell CX8 GPUDirect RDMA guide"]

[uses]
"nic_scope.vendor" = "cards of other vendors have no such parameter, or it is not collected"
"nic_scope.device_id" = "used only in a guest: whether it is a virtual function"
"nic_scope.is_grace" = "Grace has no PCIe ATS"
"node_class.passes_physical_functions" = "a class may declare that guests get no whole NICs"
"probe_result.status" = "tells a card without this parameter from one that was not read"
+++
## Why it matters
In a guest the IOMMU sits between NIC and GPU. With ATS the NIC fetches each translation once and sends straight to the GPU
below the same switch. Without it all traffic goes up to the root complex, at a quarter to half of the rate.

## What to do
1. Shut down the guests.
2. On the hypervisor run `mlxconfig -d PCI set ATS_ENABLED=1`, then reboot the host. Restarting the guest is not enough: the
   card itself must restart.
3. Set ACS for ATS on the ports of the paths to the GPUs and NICs that are passed through, and on no other
   (`acs-wrong-for-guests`).

## Exceptions
Virtual functions in a cloud guest are the provider's responsibility and are not checked. On Grace the NIC reaches the GPU
in another way. If the guests of a hypervisor use no GPUs, waive it. A host that uses its GPUs itself does not count as a
hypervisor, even if a program such as DPDK has a NIC (vfio-pci).
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
        -- The tool answered without it: this card has no such parameter.
        and not (a.pci is null and p.status is not null) as applies,
    a.current_code = 0 as fault
from nic_scope as n
left join host_scope as h on h.target = n.target
left join node_class as c on c.target = n.target
left join nic_parameter as a on a.target = n.target and a.pci = n.pci and a.name = 'ATS_ENABLED' and a.port = 0 and a.element = -1
left join probe_result as p on p.target = n.target and p.probe = 'mlxconfig' and p.instance = n.pci and p.status = 'ok'
