/* +++
id = "pcie-payload-small"
aliases = ["N-08"]
title = "PCIe max payload size too small"
severity = "medium"
subject = "nic"
needs = ["nic_scope.virtualization", "pcie_path.speed_gts", "pcie_path.width", "pci_config.max_payload"]
message = "{subject} has a max payload size of {observed}; its path supports {expected}"
action = "ask"
setting = "host.kernel_argument"
cost = "ceiling of Gen5 x16: 461 -> 425 Gb/s with 128 instead of 256 bytes (reference B6)"
since = "0.2"
sources = ["review N-08", "reference B6", "Linux Documentation/admin-guide/kernel-parameters.txt (pci=pcie_bus_*)"]

[uses]
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"nic_scope.role" = "excludes management and unused ports; if the role is unknown, the payload is still checked"
"nic_scope.inferred" = {purpose = "severity"}
"pci_config.max_payload_supported" = "used only if the payload is small"
"pcie_path.hop" = "finds the configuration of each hop"
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}

[parameters.enough_bytes]
default = 256
unit = "bytes"
reason = "today's server root ports support 256 to 512; from 256 on headers cost less than a tenth (reference B6)"

[parameters.fast_gts]
default = 16
unit = "GT/s"
reason = "from Gen4 x16 on the headers of 128-byte packets use up what the port needs (review N-08)"
+++
## Why it matters
Every packet carries about 24 bytes of header. With 128 bytes of payload a Gen5 x16 link is limited to 425 Gb/s and a Gen4
x16 link to 212 Gb/s: barely above the port's rate, with nothing left for completions and bursts.

## What to do
The device with the smallest maximum in the hierarchy decides when BIOS or kernel set the value.

1. Look for a card or an empty hot-plug slot that supports 128 bytes only, and for `pci=pcie_bus_peer2peer` or
   `pcie_bus_safe` on the kernel command line.
2. Set the BIOS to 256 or more, or move the odd card to another root port.
3. Reboot.

Never write the value by hand to one device alone.

## Exceptions
If some hop of the path cannot exceed 128 bytes, a value of 128 is correct here: the fault is in the path, not in the NIC.
*/
with paths as (
    select
        h.target,
        h.pci,
        max(h.speed_gts) filter (h.place = 0) as speed,
        max(h.width) filter (h.place = 0) as width,
        max(c.max_payload) filter (h.place = 0) as payload,
        case when count(c.max_payload_supported) = count(*) then min(c.max_payload_supported) end as allowed
    from pcie_path as h
    left join pci_config as c on c.target = h.target and c.pci = h.hop
    group by h.target, h.pci
)

select
    n.target,
    n.pci,
    p.payload || ' bytes' as observed,
    p.allowed || ' bytes' as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and coalesce(n.role not in ('management', 'unused'), true) -- null: a small payload is a fault, whatever the role
        and p.speed >= $fast_gts and p.width >= 16 as applies,
    p.payload < $enough_bytes and p.payload < p.allowed as fault,
    n.inferred,
    cost_gbps(w.wire_gbps, e.gbps, p.payload, w.wire_gbps, e.gbps, p.allowed) as cost_gbps
from nic_scope as n
left join paths as p on p.target = n.target and p.pci = n.pci
left join nic_line as e on e.target = n.target and e.pci = n.pci
left join nic_wire as w on w.target = n.target and w.pci = n.pci
