/* +++
id = "pcie-capped-by-firmware"
aliases = ["N-09"]
title = "PCIe link limited by NIC firmware setting"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "nic_scope.role", "nic_parameter.current_code"]
message = "{subject} limits its own PCIe link: {observed}"
action = "set"
setting = "nic.parameter.PCI_BUS0_RESTRICT"
since = "0.2"
sources = ["review N-09", "reference B1.1"]

[uses]
"nic_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = "identifies a device that was moved to a pod, or is half of a bond"
"port_scope.role" = "only for half of a bond: the role of the other function in its slot"
"port_scope.pci" = "the same"
"pci_function.parent" = "the same"
"nic_scope.netns_mode" = "an RDMA device moved to a pod disappears from the host only in exclusive mode"
"nic_parameter.current_text" = {purpose = "words"}
"pcie_path.speed_gts" = {purpose = "cost"}
"pcie_path.speed_max_gts" = {purpose = "cost"}
"pcie_path.width" = {purpose = "cost"}
"pcie_path.width_max" = {purpose = "cost"}
"nic_path.gpu" = {purpose = "cost"}
"gpu_nic.common_hop" = {purpose = "cost"}
"pcie_path.hop" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
"probe_result.status" = "distinguishes a parameter that the card does not have from one that was not read"
+++
## Why it matters
`PCI_BUSn_RESTRICT` can only lower the speed or the number of lanes of the link, never raise them. The values below it
(`_SPEED` 0 is Gen1, `_WIDTH` 0 is x1) apply as soon as it is true. Set by accident, or left over from a test, it explains a
slow slot that reseating does not cure.

## What to do
1. Run `mlxconfig -d PCI set PCI_BUS0_RESTRICT=0`, or clear the parameter that is named here: a Socket Direct card has one
   for each of its buses.
2. Restart the firmware: `mlxfwreset` (which takes down every function and host of the card) or a power cycle. Nothing
   changes before that.
3. Check `pcie-link-downtrained` and `pcie-link-narrow` again.

## Exceptions
If the link is limited on purpose, for a riser that fails at full speed, waive the card. A change that is pending until the
next start is not reported here.
*/
with limits as (
    select
        target,
        pci,
        any_known(current_code = 1) as is_limited,
        string_agg(name || '=' || current_text, ', ' order by name) filter (current_code = 1) as observed
    from nic_parameter
    where name in ('PCI_BUS0_RESTRICT', 'PCI_BUS1_RESTRICT', 'PCI_BUS2_RESTRICT', 'PCI_BUS3_RESTRICT',
        'PCI_BUS4_RESTRICT', 'PCI_BUS5_RESTRICT', 'PCI_BUS6_RESTRICT', 'PCI_BUS7_RESTRICT')
    group by target, pci
),

-- The second half of a bond has no RDMA device of its own: it has the role of the other function in its slot.
slots as (
    select p.target, f.parent, any_known(p.role = 'compute') as is_compute
    from port_scope as p
    inner join pci_function as f on f.target = p.target and f.pci = p.pci and f.parent <> ''
    group by p.target, f.parent
),

-- The links that the card's data crosses, as they are, and with all that both ends of the card's own one can do.
lines as (
    select
        c.target,
        c.pci,
        pcie_line_gbps(c.speed_gts, c.width) as gbps,
        case
            when c.place > 0 then pcie_line_gbps(c.speed_gts, c.width)
            when c.speed_max_gts > 0 and p.speed_max_gts > 0 and c.width_max > 0 and p.width_max > 0
                then pcie_line_gbps(least(c.speed_max_gts, p.speed_max_gts), least(c.width_max, p.width_max)) -- null: none is
        end as better_gbps
    from pcie_path as c
    inner join pcie_path as p on p.target = c.target and p.pci = c.pci and p.place = c.place + 1
    inner join nic_reach as r on r.target = c.target and r.pci = c.pci and c.place < r.end_place
    where c.place % 2 = 0
),

trained as (
    select
        target,
        pci,
        case when count(gbps) = count(*) then min(gbps) end as line_gbps,
        case when count(better_gbps) = count(*) then min(better_gbps) end as better_gbps
    from lines
    group by target, pci
)

select
    n.target,
    n.pci,
    l.observed,
    'no limit' as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and not is_of_other_vendor(n.vendor)
        and n.driver <> 'vfio-pci'
        and not (n.device is null and n.netns_mode = 'exclusive' and rdma.status is not null)
        -- The tool answered and does not name it: this card has no such parameter.
        and not (l.pci is null and asked.status is not null)
        and case when n.device is null then w.is_compute else n.role = 'compute' end as applies,
    l.is_limited as fault,
    n.inferred,
    -- A card that shows the limit as all that it can do does not tell what it costs.
    case
        when t.better_gbps > t.line_gbps
            then cost_gbps(m.wire_gbps, t.line_gbps, g.max_payload, m.wire_gbps, t.better_gbps, g.max_payload)
    end as cost_gbps
from nic_scope as n
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join slots as w on w.target = f.target and w.parent = f.parent
left join limits as l on l.target = n.target and l.pci = n.pci
left join trained as t on t.target = n.target and t.pci = n.pci
left join nic_wire as m on m.target = n.target and m.pci = n.pci
left join pci_config as g on g.target = n.target and g.pci = n.pci
left join probe_result as asked
    on asked.target = n.target and asked.probe = 'mlxconfig' and asked.instance = n.pci and asked.status = 'ok'
left join probe_result as rdma
    on rdma.target = n.target and rdma.probe = 'infiniband' and rdma.status in ('ok', 'absent')
