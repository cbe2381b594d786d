/* +++
id = "intent-adaptive-routing"
aliases = ["INTENT.adaptive_routing"]
title = "Adaptive routing of NIC does not match intent"
severity = "high"
subject = "port"
needs = ["port_scope.pci", "port_scope.link_layer", "port_scope.role", "nic_parameter.current_code"]
message = "{subject} has ROCE_ADAPTIVE_ROUTING_EN {observed}; the fabric's adaptive routing needs it {expected}"
action = "set"
setting = "nic.parameter.ROCE_ADAPTIVE_ROUTING_EN"
fix = "mlxconfig -d PCI set ROCE_ADAPTIVE_ROUTING_EN=1"
covers = ["N-16"]
since = "0.2"
sources = ["review N-16", "reference B1.1, B1.2", "judgement: the site's word stands for the switches"]

[uses]
"site.adaptive_routing" = "not checked unless the site file sets it"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
If switches spray the packets of one flow over all paths, packets arrive out of order. A NIC that is not prepared for this
treats it as loss and requests everything again.

## What to do
Run `mlxconfig -d PCI set ROCE_ADAPTIVE_ROUTING_EN=1`. It takes effect at the next firmware reset, which takes down every
function of the card. Spectrum-X also forces adaptive routing at run time, in the card's acceleration register; its
operator does this at boot.

## Exceptions
The parameter shows what the card is allowed to do. The setting forced at run time is not collected, so a passing check is
only half of the answer. Whether the switches spray RoCE traffic is taken from the site file: set
`adaptive_routing = false` if they do not. If a card does not show the parameter, the check is inconclusive: the card may
or may not reorder packets.
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
