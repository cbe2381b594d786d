/* +++
id = "pcie-link-narrow"
aliases = ["PCI-02"]
title = "PCIe link downtrained (lanes)"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "pci_function.parent", "pcie_path.width", "pcie_path.width_max"]
message = "{subject} runs at {observed}; both ends support {expected}"
action = "reset"
disturbs = "power cycle"
implied_by = ["pcie-capped-by-firmware"]
cost = "x8 instead of x16 halves the ceiling: 504 -> 252 Gb/s at 32 GT/s (incident I-136)"
since = "0.2"
sources = ["review PCI-02", "incident I-136", "incident I-137", "reference B6"]

[uses]
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"pcie_endpoint.root_port" = "marks the end of the path; its table lists the subjects"
"pcie_path.hop" = "names the hop"
"node_class.pcie_limited" = "no NIC is excused if the site file does not set it"
"nic_scope.role" = "excludes management and unused ports; a link of unknown role is still checked"
"nic_scope.inferred" = {purpose = "severity"}
"nic_parameter.current_code" = {purpose = "words", why = "a limit in the card's own firmware"}
"pcie_path.speed_gts" = {purpose = "cost"}
"nic_path.gpu" = {purpose = "cost"}
"gpu_nic.common_hop" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
+++
## Why it matters
Half the lanes means half the bandwidth: x8 instead of x16 leaves 252 of 504 Gb/s at 32 GT/s, below the rate of a 400G port.
The port is up and at its rate; only the traffic is slow. The cost counts only the links that the NIC's data crosses: what
it moves for a GPU below the same PCIe switch does not cross the switch's own link to the CPU.

## What to do
1. Remove any firmware limit (`PCI_BUS0_RESTRICT`; see the detail).
2. Otherwise drain the host, do a cold power cycle and check again. A warm reboot often leaves the link as it is.
3. Reseat the card and the riser.
4. Try another slot.
5. Replace the card.

## Exceptions
A slot that is wired with fewer lanes than its port claims can never do better (some boards differ from their nominal
twins): set `pcie_limited` in the node class. An x8 card in an x16 slot is fine. The inside of a PCIe switch is not a link.
*/
-- Place 0 is the function, 1 the port above it, 2 the upstream port of a switch, 3 the port above that: an even place
-- and the next are the two ends of a link, while between 1 and 2 lies the inside of a switch.
with links as (
    select
        c.target,
        c.pci,
        c.place,
        c.hop,
        c.width,
        c.speed_gts,
        c.place < r.end_place as is_crossed, -- by the NIC's data: what lies above costs nothing
        least(c.width_max, p.width_max) as possible, -- null: for the words, and for the cost
        -- 0 lanes are not a link: a working NIC has one, so this reading is wrong.
        case when c.width = p.width and c.width > 0 then c.width < c.width_max and c.width < p.width_max end as is_narrow
    from pcie_path as c
    inner join pcie_path as p on p.target = c.target and p.pci = c.pci and p.place = c.place + 1
    left join nic_reach as r on r.target = c.target and r.pci = c.pci
    where c.place % 2 = 0
),

paths as (
    select
        target,
        pci,
        any_known(is_narrow) as is_narrow,
        string_agg('x' || width || case when place > 0 then ' at a PCIe switch above it' else '' end, ', ' order by place) filter (is_narrow) as observed,
        string_agg('x' || possible, ', ' order by place) filter (is_narrow) as expected,
        string_agg(hop, ', ' order by place) filter (is_narrow and place > 0) as hops,
        case when count(speed_gts) = count(*) then min(pcie_line_gbps(speed_gts, width)) filter (is_crossed) end as line_gbps,
        case when count(speed_gts) = count(*) then min(pcie_line_gbps(speed_gts, possible)) filter (is_crossed) end as better_gbps
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
        and coalesce(n.role not in ('management', 'unused'), true) as applies, -- null: narrow is narrow, whatever the role
    -- One narrow link is enough; to report none, the path must reach the root bus.
    case when l.is_narrow then true when top.parent = '' then l.is_narrow end as fault,
    concat_ws('; ', 'switch at ' || l.hops, case when r.current_code = 1 then 'limited by firmware: PCI_BUS0_RESTRICT' end) as detail,
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
