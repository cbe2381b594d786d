/* +++
id = "ats-on-bare-metal"
aliases = ["GDR-05"]
title = "ATS on without a guest"
severity = "low"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.architecture", "nic_scope.driver", "nic_scope.role", "nic_parameter.current_code"]
message = "{subject} has ATS_ENABLED={observed} on bare metal"
action = "set"
setting = "nic.parameter.ATS_ENABLED"
fix = "mlxconfig -d PCI set ATS_ENABLED=0"
preview = true
since = "0.2"
sources = ["review GDR-05", "Mellanox/nic-configuration-operator README (ATS_ENABLED=0 for GPUDirect on bare metal)",
    "reference B1.1"]

[uses]
"nic_scope.vendor" = "cards of other vendors have no such parameter, or it is not collected"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = "identifies a device that is in a pod, or is half of a bond"
"port_scope.role" = "only for half of a bond: the role of the other function in its slot"
"port_scope.pci" = "the same"
"pci_function.parent" = "the same"
"nic_scope.netns_mode" = "only in exclusive mode does an RDMA device in a pod vanish from the host"
"probe_result.status" = "tells what is not there from what was not read"
"pci_function.vendor" = "identifies the switch inside a ConnectX-8, where NVIDIA's own check applies"
"pcie_path.hop" = "the same"
"rdma_device.pci" = "finds the type of the card"
"rdma_device.psid" = "the same"
"wanted_parameter.value" = "a site file may require ATS"
+++
## Why it matters
ATS is for guests. On bare metal NVIDIA's operator turns it off for GPUDirect. No loss has been published, so this is a
hint.

## What to do
Run `mlxconfig -d PCI set ATS_ENABLED=0`. It takes effect at the next firmware start (`mlxfwreset` takes down every function
and host of the card).

## Exceptions
If the host is a hypervisor on other days, leave ATS on and set the intended `ATS_ENABLED` to 1 in the site file.
*/
with inside_nic as (
    select distinct h.target, h.pci
    from pcie_path as h
    inner join pci_function as f on f.target = h.target and f.pci = h.hop and f.vendor = '15b3'
    where h.place > 0
),

wanted as (
    select distinct d.target, d.pci
    from rdma_device as d
    inner join wanted_parameter as w on w.psid = d.psid and w.name = 'ATS_ENABLED' and w.value in ('1', 'True', 'True(1)')
),

-- The second half of a bond has no RDMA device of its own: it has the role of the other function in its slot.
slots as (
    select p.target, f.parent, any_known(p.role = 'compute') as is_compute
    from port_scope as p
    inner join pci_function as f on f.target = p.target and f.pci = p.pci and f.parent <> ''
    group by p.target, f.parent
)

select
    n.target,
    n.pci,
    a.current_code as observed,
    0 as expected,
    n.virtualization = 'bare metal'
        and n.architecture = 'x86_64'
        and s.pci is null
        and w.pci is null
        and not is_of_other_vendor(n.vendor)
        and n.driver <> 'vfio-pci'
        and not (n.device is null and n.netns_mode = 'exclusive' and r.status is not null)
        and not (a.pci is null and p.status is not null)
        and case when n.device is null then o.is_compute else n.role = 'compute' end as applies,
    a.current_code = 1 as fault,
    n.inferred
from nic_scope as n
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join slots as o on o.target = f.target and o.parent = f.parent
left join inside_nic as s on s.target = n.target and s.pci = n.pci
left join wanted as w on w.target = n.target and w.pci = n.pci
left join nic_parameter as a on a.target = n.target and a.pci = n.pci and a.name = 'ATS_ENABLED' and a.port = 0 and a.element = -1
left join probe_result as p on p.target = n.target and p.probe = 'mlxconfig' and p.instance = n.pci and p.status = 'ok'
left join probe_result as r on r.target = n.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
