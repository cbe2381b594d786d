/* +++
id = "INTENT.adaptive_routing"
title = "NIC is not prepared for packets that take several paths"
severity = "high"
subject = "port"
needs = ["port_scope.pci", "port_scope.link_layer", "port_scope.role", "nic_parameter.current_code"]
message = "{subject} has ROCE_ADAPTIVE_ROUTING_EN {observed}, the fabric's adaptive routing needs it {expected}"
setting = "nic.parameter.ROCE_ADAPTIVE_ROUTING_EN"
covers = ["N-16"]
since = "0.2"
sources = ["review N-16", "reference B1.1, B1.2", "judgement: the site's word stands for the switches"]

[uses]
"site.adaptive_routing" = "nothing is wanted where the site says nothing"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Where switches spread the packets of one flow over all paths, they arrive out of order. A NIC that is not prepared takes that
for loss and asks for everything again.

## What to do
`mlxconfig -d PCI set ROCE_ADAPTIVE_ROUTING_EN=1`, in force from the next firmware reset on, which takes down every function
of the card. Spectrum-X also forces adaptive routing at run time, in the card's acceleration register: its operator does so at
boot.

## When it is wrong
The parameter says what the card may do; the force at run time is not read, so a good answer here is half of it. Whether the
switches spread RoCE is the site's word: say `adaptive_routing = false` where they do not. A card that does not show the
parameter is unknown, as it may or may not put packets in order.
*/
select
    p.target,
    p.device,
    p.port,
    case when f.current_code = 1 then 'on' when f.current_code <> 1 then 'off' end as observed,
    'on' as expected,
    s.adaptive_routing is true and p.link_layer = 'Ethernet' and p.role = 'compute' as applies,
    f.current_code <> 1 as fault,
    p.pci as detail,
    p.inferred
from port_scope as p
cross join site as s
left join nic_parameter as f
    on f.target = p.target and f.pci = p.pci and f.name = 'ROCE_ADAPTIVE_ROUTING_EN' and f.port = 0 and f.element = -1
