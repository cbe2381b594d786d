/* +++
id = "INTENT.max_read_request"
title = "PCIe read requests are smaller than the site wants"
severity = "low"
subject = "port"
needs = ["port_scope.pci", "port_scope.role", "port_scope.virtualization", "pci_config.max_read_request"]
message = "{subject} reads {observed} bytes at a time, the site wants at least {expected}"
setting = "pci.max_read_request"
covers = ["PCI-04"]
since = "0.2"
sources = ["review PCI-04, EFFECTS", "reference B3", "nic-configuration-operator README"]

[uses]
"site.max_read_request" = "nothing is wanted where the site says nothing"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Small reads need more of them in flight to fill the link. Many hosts reach line rate with 512 bytes all the same: NVIDIA's
operator sets 4096, no public source says what that gains.

## What to do
`setpci -s PCI CAP_EXP+08.w=5000:F000` sets 4096 on the physical function (the mask leaves the other bits alone). It takes
hold at once and disturbs nothing visible. It is lost at reboot, at a function reset and at every firmware reset: let a boot
unit and the firmware procedure set it again.

## When it is wrong
A host that reaches line rate as it is: leave the setting out of the site file. In a guest the register is not the guest's own
and is not judged. Of a bond only the function that the RDMA device names is judged. Without root it cannot be read.
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
