/* +++
id = "PCI-02"
title = "A PCIe link runs on fewer lanes than both of its ends have"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "pci_function.parent", "pcie_path.width", "pcie_path.width_max"]
message = "{subject} has a PCIe link of {observed}, both ends have {expected}"
implied_by = ["N-09"]
cost = "x8 instead of x16 halves the ceiling: 504 -> 252 Gb/s at 32 GT/s (incident I-136)"
since = "0.2"
sources = ["review PCI-02", "incident I-136", "incident I-137", "reference B6"]

[uses]
"nic_scope.is_grace" = "Grace root ports are no guest's, where lscpu cannot tell"
"pcie_endpoint.root_port" = "tells where the path ends; the table is that of the subjects"
"pcie_path.hop" = "the name of the place"
"node_class.pcie_limited" = "nothing is excused where the site says nothing"
"nic_scope.role" = "leaves management and unused ports out; of unknown role, the link is judged all the same"
"nic_scope.inferred" = {purpose = "severity"}
"nic_parameter.current_code" = {purpose = "words", why = "a limit in the card's own firmware"}
"pcie_path.speed_gts" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
+++
## Why it matters
Half the lanes are half the bandwidth: x8 of x16 leaves 252 of 504 Gb/s at 32 GT/s, under the rate of a 400G port. The
port is up and at its rate; only the traffic is slow.

## What to do
A limit in firmware (`PCI_BUS0_RESTRICT`, see the detail) is taken off. Else drain the host, cold power cycle, look again;
then reseat card and riser; then try another slot; then replace the card. A warm reboot often leaves the link as it is.

## When it is wrong
A slot that is wired with fewer lanes than its port claims can never do better (some boards differ from their nominal
twins): say `pcie_limited` in the node class. A x8 card in a x16 slot is in order. The inside of a PCIe switch is no link.
*/
-- Place 0 is the function, 1 the port above it, 2 the upstream port of a switch, 3 the port above that: an even place
-- and the next are the two ends of a link, while between 1 and 2 lies the inside of a switch.
with links as (
    select
        c.target,
        c.pci,
        c.hop,
        c.width,
        c.speed_gts,
        least(c.width_max, p.width_max) as possible, -- null: for the words, and for the cost
        -- 0 lanes are no link: a NIC that works has one, so this was not read rightly.
        case when c.width = p.width and c.width > 0 then c.width < c.width_max and c.width < p.width_max end as is_narrow
    from pcie_path as c
    inner join pcie_path as p on p.target = c.target and p.pci = c.pci and p.place = c.place + 1
    where c.place % 2 = 0
),

paths as (
    select
        target,
        pci,
        any_known(is_narrow) as is_narrow,
        string_agg('x' || width || ' at ' || hop, ', ' order by hop) filter (is_narrow) as observed,
        string_agg('x' || possible, ', ' order by hop) filter (is_narrow) as expected,
        case when count(speed_gts) = count(*) then min(pcie_line_gbps(speed_gts, width)) end as line_gbps,
        case when count(speed_gts) = count(*) then min(pcie_line_gbps(speed_gts, possible)) end as better_gbps
    from links
    group by target, pci
)

select
    n.target,
    n.pci,
    l.observed,
    l.expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and c.pcie_limited is not true
        and coalesce(n.role not in ('management', 'unused'), true) as applies, -- null: few lanes are few, whatever the role
    -- One narrow link is enough; for none the walk must have come to the root bus.
    case when l.is_narrow then true when top.parent = '' then l.is_narrow end as fault,
    case when r.current_code = 1 then 'firmware limits it: PCI_BUS0_RESTRICT' end as detail,
    n.inferred,
    cost_gbps(w.wire_gbps, l.line_gbps, g.max_payload, w.wire_gbps, l.better_gbps, g.max_payload) as cost_gbps
from nic_scope as n
left join node_class as c on c.target = n.target
left join pcie_endpoint as e on e.target = n.target and e.pci = n.pci
left join pci_function as top on top.target = e.target and top.pci = e.root_port
left join paths as l on l.target = n.target and l.pci = n.pci
left join nic_wire as w on w.target = n.target and w.pci = n.pci
left join pci_config as g on g.target = n.target and g.pci = n.pci
left join nic_parameter as r
    on r.target = n.target and r.pci = n.pci and r.name = 'PCI_BUS0_RESTRICT' and r.port = 0 and r.element = -1
