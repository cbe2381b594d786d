/* +++
id = "pcie-below-port-rate"
aliases = ["PCI-03"]
title = "PCIe slower than the NIC's ports"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "port_scope.role", "port_scope.card", "pci_function.parent"]
message = "{subject}: PCIe carries {observed}; its ports run at {expected}"
action = "reseat"
implied_by = ["pcie-link-downtrained", "pcie-link-narrow", "pcie-capped-by-firmware"]
since = "0.2"
sources = ["review PCI-03", "reference B6", "incident I-136", "Linux __pcie_print_link_status (pci.c)"]

[uses]
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = "identifies a device that was moved to a pod"
"nic_scope.netns_mode" = "an RDMA device moved to a pod disappears from the host only in exclusive mode"
"probe_result.status" = "distinguishes a device that was moved from one that was not read"
"node_class.pcie_limited" = "no NIC is excused if the site file does not set it"
"node_class.port_rate_gbps" = "the planned rate; if the site file does not set it, the rate of the port"
"port_scope.rate_gbps" = "inconclusive without it, unless the site file sets the rate"
"port_scope.state" = "the same: a port that is down reports a rate that is not its own"
"port_scope.netdev" = "finds the bond behind a port"
"port_scope.rate_dispute" = {purpose = "words"}
"port_scope.pci" = "finds the slot of a port"
"netdev.speed_mbps" = "the rate of a bond, whose RDMA port shows one member's"
"nic_path.gpu_gbps" = "used for compute ports; inconclusive without it"
"nic_path.memory_gbps" = "used for all others; inconclusive without it"
"nic_path.gpu_hop" = {purpose = "words"}
"nic_path.memory_hop" = {purpose = "words"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "words", why = "what packet headers leave, and the cost"}
"pcie_endpoint.root_port" = {purpose = "words", why = "the same, of what the NIC reads"}

[parameters.usable_share]
default = 0.9
unit = "of the rate after encoding"
reason = "packet headers leave 0.914 at a payload of 256 bytes, flow control takes a little more (reference B6)"
+++
## Why it matters
Whatever the fabric does, the card cannot move more than its PCIe links carry: those between it and its nearest GPU or, if
no GPU is on the same switch, and for storage, those up to the CPU. A 400G port needs Gen5 x16. On Gen4 x16 it is limited to
about 230 Gb/s, and sends pauses or drops packets when more arrives.

## What to do
If `pcie-link-downtrained`, `pcie-link-narrow` or `pcie-capped-by-firmware` fails for the same NIC, that is the cause. If
not, the slot is too small for the card: move it to a slot that fits, install the auxiliary card of a Socket Direct set, or
accept it and set `pcie_limited` in the node class.

## Exceptions
Two compute ports of one card are added up; if one is a spare, give it the role unused. For a storage card only the faster
port counts, because two are usually redundant. The links of a Socket Direct card are added up, and its ports, which each
half shows, are counted once. If driver and firmware report different rates for a port, the check is inconclusive. NICs that
share one link to the CPU are added up by `pcie-uplink-shared` (preview). The kernel message "limited by" alone proves
nothing: it compares with what the card could do, not with its ports.
*/
-- A slot: the port above one function or several of one card.
with ports as (
    select
        p.target,
        f.parent,
        p.card,
        p.role in ('compute', 'storage') as is_used,
        p.role = 'compute' as is_compute,
        p.role in ('compute', 'storage') and p.state = 'DOWN' as is_down,
        p.rate_dispute,
        case when p.role = 'compute' then e.gpu_gbps when p.role is not null then e.memory_gbps end as line_gbps,
        case when p.role = 'compute' then e.gpu_hop when p.role is not null then e.memory_hop end as line_hop,
        pcie_gbps(line_gbps, g.max_payload, g.completion_payload) as payload_gbps,
        wire_write_gbps(1, v.active_mtu, rdma_headers(p.link_layer, true)) as wire_share,
        case
            when p.role in ('management', 'unused') then 0
            when p.role = 'storage' and p.state = 'DOWN' then -1 -- its sibling decides, if there is one
            when p.role = 'compute' and c.port_rate_gbps is not null then c.port_rate_gbps
            when p.role is not null and p.state = 'ACTIVE'
                then case when b.netdev is null then p.rate_gbps else d.speed_mbps / 1000 end
        end as rate
    from port_scope as p
    inner join pci_function as f on f.target = p.target and f.pci = p.pci and (f.parent <> '' or f.parent is null)
    left join nic_path as e on e.target = p.target and e.pci = p.pci
    left join nic_packets as g on g.target = p.target and g.pci = p.pci
    left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
    left join node_class as c on c.target = p.target
    left join bond as b on b.target = p.target and b.netdev = p.netdev
    left join netdev as d on d.target = b.target and d.name = b.netdev
),

slots as (
    select
        target,
        parent,
        min(card) as card,
        any_known(is_used) as is_used,
        case
            when any_known(is_compute) then sum_known(rate)
            when count(rate) = count(*) and max(rate) >= 0 then max(rate)
        end as rate,
        min(line_gbps) as gbps,
        any_known(is_down) as has_down,
        any_known(rate_dispute <> '') as has_dispute,
        arg_min(line_hop, line_gbps) as hop, -- null: only for the words
        -- For words and cost: what the wire and the packets of PCIe really leave, as `predict` has it (predict/macros.py).
        case
            when any_known(is_compute) then sum_known(rate * wire_share)
            when count(rate * wire_share) = count(*) then max(rate * wire_share)
        end as wire_gbps,
        case when count(payload_gbps) = count(*) then min(payload_gbps) end as payload_gbps
    from ports
    group by target, parent
),

-- The halves of a Socket Direct card share its ports, so the fuller slot says what all of them together need.
cards as (
    select
        target,
        card,
        count(*) as slots,
        sum_known(gbps) as line_gbps,
        sum_known(payload_gbps) as carried,
        -- A port whose slot was not read may be in any of them.
        case when count(rate) = count(*) and count(parent) = count(*) then max(rate) end as needed,
        case when count(wire_gbps) = count(*) then max(wire_gbps) end - carried as missing
    from slots
    group by target, card
)

select
    n.target,
    n.pci,
    case
        when k.carried is not null then printf('%.1f Gb/s', k.carried)
        else printf('%.1f Gb/s less packet headers', k.line_gbps)
    end as observed,
    printf('%.0f Gb/s', k.needed) as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and c.pcie_limited is not true
        and n.driver <> 'vfio-pci'
        and not (w.parent is null and n.device is null and n.netns_mode = 'exclusive' and r.status is not null)
        and w.is_used as applies,
    $usable_share * k.line_gbps < k.needed as fault,
    'bottleneck at ' || w.hop || case when k.slots > 1 then ', ' || k.slots || ' slots combined' else '' end as detail,
    n.inferred,
    round(at_least(k.missing, 0) / count(*) over (partition by n.target, k.card), 1) as cost_gbps,
    case when w.has_dispute then 'sources_differ' when w.has_down then 'port_down' end as reason
from nic_scope as n
left join node_class as c on c.target = n.target
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join slots as w on w.target = f.target and w.parent = f.parent
left join cards as k on k.target = w.target and k.card = w.card
left join probe_result as r on r.target = n.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
