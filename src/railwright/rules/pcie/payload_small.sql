/* +++
id = "N-08"
title = "PCIe packets of the NIC are smaller than its path allows"
severity = "medium"
subject = "nic"
needs = ["nic_scope.virtualization", "pcie_path.speed_gts", "pcie_path.width", "pci_config.max_payload"]
message = "{subject} is set to a payload of {observed}, its path allows {expected}"
cost = "ceiling of Gen5 x16: 461 -> 425 Gb/s with 128 instead of 256 bytes (reference B6)"
since = "0.2"
sources = ["review N-08", "reference B6", "Linux Documentation/admin-guide/kernel-parameters.txt (pci=pcie_bus_*)"]

[uses]
"nic_scope.is_grace" = "Grace root ports are no guest's, where lscpu cannot tell"
"nic_scope.role" = "leaves management and unused ports out; of unknown role, the payload is judged all the same"
"nic_scope.inferred" = {purpose = "severity"}
"pci_config.max_payload_supported" = "asked only where the payload is small"
"pcie_path.hop" = "finds the configuration of each hop"
"pcie_endpoint.narrowest_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}

[parameters.enough_bytes]
default = 256
unit = "bytes"
reason = "server root ports of today take 256 to 512; from 256 on headers cost less than a tenth (reference B6)"

[parameters.fast_gts]
default = 16
unit = "GT/s"
reason = "from Gen4 x16 on the headers of 128-byte packets take what the port needs (review N-08)"
+++
## Why it matters
Every packet carries some 24 bytes of header. With 128 bytes of payload a Gen5 x16 link ends at 425 Gb/s and a Gen4 x16
link at 212 Gb/s: hardly above the port's rate, and nothing is left for completions and bursts.

## What to do
The smallest device of the hierarchy decides when BIOS or kernel set it: look for a card or an empty hot-plug slot that
takes 128 bytes only, and for `pci=pcie_bus_peer2peer` or `pcie_bus_safe` on the kernel's command line. Set the BIOS to
256 or more, or move the odd card to another root port. It takes a reboot; never write the value by hand to one device
alone.

## When it is wrong
A value of 128 that some hop of the path cannot exceed is in order here: the path is then the fault's place, not the NIC.
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
        and coalesce(n.role not in ('management', 'unused'), true) -- null: small packets are small, whatever the role
        and p.speed >= $fast_gts and p.width >= 16 as applies,
    p.payload < $enough_bytes and p.payload < p.allowed as fault,
    n.inferred,
    cost_gbps(w.wire_gbps, e.narrowest_gbps, p.payload, w.wire_gbps, e.narrowest_gbps, p.allowed) as cost_gbps
from nic_scope as n
left join paths as p on p.target = n.target and p.pci = n.pci
left join pcie_endpoint as e on e.target = n.target and e.pci = n.pci
left join nic_wire as w on w.target = n.target and w.pci = n.pci
