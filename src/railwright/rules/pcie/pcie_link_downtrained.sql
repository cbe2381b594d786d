/* +++
id = "pcie-link-downtrained"
aliases = ["PCI-01"]
title = "PCIe link downtrained (speed)"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "pci_function.parent", "pcie_path.speed_gts", "pcie_path.speed_max_gts"]
message = "{subject} runs at {observed}; both ends support {expected}"
action = "reset"
disturbs = "power cycle"
implied_by = ["pcie-capped-by-firmware"]
cost = "half the speed halves the ceiling: 504 -> 252 Gb/s at x16 with 16 instead of 32 GT/s (reference B6)"
since = "0.2"
sources = ["review PCI-01", "incident I-139", "incident I-136", "reference B6"]

[uses]
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"pcie_endpoint.root_port" = "marks the end of the path; its table lists the subjects"
"pcie_path.hop" = "names the hop"
"nic_scope.role" = "excludes management and unused ports; a link of unknown role is still checked"
"nic_scope.inferred" = {purpose = "severity"}
"nic_parameter.current_code" = {purpose = "words", why = "a limit in the card's own firmware"}
"pcie_path.width" = {purpose = "cost"}
"nic_path.gpu" = {purpose = "cost"}
"gpu_nic.common_hop" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
"pci_config.link_target_speed_gts" = {purpose = "words", why = "a limit configured in the port"}
+++
## Why it matters
A link that trains below what both of its ends support halves the NIC's ceiling with every generation, and nothing else
shows it: the port is up, the rate is correct, traffic is just slow. The cause is a bad contact, a riser, a retimer, or a
configured limit. The cost counts only the links that the NIC's data crosses: what it moves for a GPU below the same PCIe
switch does not cross the switch's own link to the CPU.

## What to do
1. Read the detail. If it names a limit in firmware (`PCI_BUS0_RESTRICT`) or in the port (target speed), remove the limit;
   nothing needs repair.
2. Otherwise drain the host, do a cold power cycle and check again. A warm reboot often leaves the link as it is.
3. Reseat the card and the riser.
4. Try another slot.
5. Replace the card.

## Exceptions
Each link is compared with its own two ends, so a Gen5 card in a Gen4 slot is fine. If the BIOS limits a slot to a lower
generation on purpose, the port still reports its full capability: waive those slots. The inside of a PCIe switch is not a
link and is not checked. In a guest the link values are made up by the hypervisor.
*/
-- Place 0 is the function, 1 the port above it, 2 the upstream port of a switch, 3 the port above that: an even place
-- and the next are the two ends of a link, while between 1 and 2 lies the inside of a switch.
with links as (
    select
        c.target,
        c.pci,
        c.place,
        c.hop,
        c.speed_gts as speed,
        c.width,
        c.place < r.end_place as is_crossed, -- by the NIC's data: what lies above costs nothing
        least(c.speed_max_gts, p.speed_max_gts) as possible, -- null: for the words, and for the cost
        case when c.speed_gts = p.speed_gts then c.speed_gts < c.speed_max_gts and c.speed_gts < p.speed_max_gts end as is_slow,
        g.link_target_speed_gts < possible as is_capped
    from pcie_path as c
    inner join pcie_path as p on p.target = c.target and p.pci = c.pci and p.place = c.place + 1
    left join pci_config as g on g.target = p.target and g.pci = p.hop
    left join nic_reach as r on r.target = c.target and r.pci = c.pci
    where c.place % 2 = 0
),

paths as (
    select
        target,
        pci,
        any_known(is_slow) as is_slow,
        string_agg(printf('%g GT/s', speed) || case when place > 0 then ' at a PCIe switch above it' else '' end, ', ' order by place) filter (is_slow) as observed,
        string_agg(printf('%g GT/s', possible), ', ' order by place) filter (is_slow) as expected,
        string_agg(hop, ', ' order by place) filter (is_slow and place > 0) as hops,
        string_agg(hop, ', ' order by place) filter (is_slow and is_capped) as capped,
        case when count(width) = count(*) then min(pcie_line_gbps(speed, width)) filter (is_crossed) end as line_gbps,
        case when count(width) = count(*) then min(pcie_line_gbps(possible, width)) filter (is_crossed) end as better_gbps
    from links
    group by target, pci
)

select
    n.target,
    n.pci,
    l.observed,
    l.expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and coalesce(n.role not in ('management', 'unused'), true) as applies, -- null: slow is slow, whatever the role
    -- One slow link is enough; to report none, the path must reach the root bus.
    case when l.is_slow then true when top.parent = '' then l.is_slow end as fault,
    concat_ws('; ',
        'switch at ' || l.hops,
        case when r.current_code = 1 then 'limited by firmware: PCI_BUS0_RESTRICT' end,
        'target speed limited in the port above ' || l.capped
    ) as detail,
    n.inferred,
    cost_gbps(w.wire_gbps, l.line_gbps, g.max_payload, w.wire_gbps, l.better_gbps, g.max_payload) as cost_gbps
from nic_scope as n
left join pcie_endpoint as e on e.target = n.target and e.pci = n.pci
left join pci_function as top on top.target = e.target and top.pci = e.root_port
left join paths as l on l.target = n.target and l.pci = n.pci
left join nic_wire as w on w.target = n.target and w.pci = n.pci
left join pci_config as g on g.target = n.target and g.pci = n.pci
left join nic_parameter as r
    on r.target = n.target and r.pci = n.pci and r.name = 'PCI_BUS0_RESTRICT' and r.port = 0 and r.element = -1
