/* +++
id = "intent-max-read-request"
aliases = ["INTENT.max_read_request"]
title = "PCIe read request size below intent"
severity = "low"
subject = "port"
needs = ["port_scope.pci", "port_scope.role", "port_scope.virtualization", "pci_config.max_read_request"]
message = "{subject} has a maximum read request of {observed} bytes; intent is at least {expected}"
action = "set"
setting = "pci.max_read_request"
covers = ["PCI-04"]
since = "0.2"
sources = ["review PCI-04, EFFECTS", "reference B3", "nic-configuration-operator README"]

[uses]
"site.max_read_request" = "not checked unless the site file sets it"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
With small read requests, more of them must be in flight to fill the link. Many hosts reach line rate with 512 bytes all
the same. NVIDIA's operator sets 4096; no public source says what that gains.

## What to do
Run `setpci -s PCI CAP_EXP+08.w=5000:F000` to set 4096 on the physical function (the mask leaves the other bits alone). It
takes effect immediately, without visible disruption. It is lost at reboot and whenever the card is re-enumerated; it
survives a driver reload and `mlxfwreset`. Let a boot unit set it again, and read it back after a reset.

## Exceptions
If a host reaches line rate as it is, leave the setting out of the site file. In a guest the register is not the guest's
own and is not checked. On a bond, only the function that the RDMA device names is checked. The register cannot be read
without root.
*/
select
    p.target,
    p.device,
    p.port,
    c.max_read_request as observed,
    s.max_read_request as expected,
    s.max_read_request is not null and p.role = 'compute' and p.virtualization <> 'guest' as applies,
    c.max_read_request < s.max_read_request as fault,
    p.pci as detail,
    p.inferred
from port_scope as p
cross join site as s
left join pci_config as c on c.target = p.target and c.pci = p.pci
