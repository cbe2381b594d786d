/* +++
id = "intent-programmable-cc"
aliases = ["INTENT.programmable_cc"]
title = "Programmable congestion control does not match intent"
severity = "high"
subject = "port"
needs = ["port_scope.pci", "port_scope.link_layer", "port_scope.role", "nic_parameter.current_code"]
message = "{subject} has programmable congestion control {observed}; intent is {expected}"
action = "set"
setting = "nic.parameter.USER_PROGRAMMABLE_CC"
since = "0.2"
sources = [
  "review G-PCC, FWC-12", "reference B1.1, B1.2", "docs.nvidia.com: ConnectX-7 firmware known issue 3327847",
  "judgement: severity",
]

[uses]
"site.programmable_cc" = "not checked unless the site file sets it"
"probe_result.status" = "distinguishes a card without the parameter from one that was not queried"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
If it is off, the program of a Spectrum-X fabric cannot be loaded and the NIC falls back to DCQCN, while its peers do not.
If it is on where DCQCN is intended, the DCQCN parameters have no effect and the CNP counters stand still.

## What to do
Run `mlxconfig -d PCI set USER_PROGRAMMABLE_CC=1` (0 for off). It takes effect at the next firmware reset, which takes
down every function of the card; some platforms need a reboot or a power cycle. The card refuses it together with
`ROCE_CC_LEGACY_DCQCN`.

## Exceptions
A card that does not offer the parameter is not checked: older firmware and older cards do not have it. The parameter
allows the program; it does not show that the program runs. The active value is checked, not a pending one.
*/
with offered as (
    select
        p.*,
        case when f.pci is not null then true when r.status = 'ok' then false end as is_offered,
        f.current_code = 1 as is_on
    from port_scope as p
    left join nic_parameter as f
        on f.target = p.target and f.pci = p.pci and f.name = 'USER_PROGRAMMABLE_CC' and f.port = 0 and f.element = -1
    left join probe_result as r on r.target = p.target and r.probe = 'mlxconfig' and r.instance = p.pci
)

select
    o.target,
    o.device,
    o.port,
    case when o.is_on then 'on' when not o.is_on then 'off' end as observed,
    case when s.programmable_cc then 'on' else 'off' end as expected,
    s.programmable_cc is not null and o.link_layer = 'Ethernet' and o.role = 'compute' and o.is_offered as applies,
    o.is_on <> s.programmable_cc as fault,
    o.pci as detail,
    o.inferred
from offered as o
cross join site as s
