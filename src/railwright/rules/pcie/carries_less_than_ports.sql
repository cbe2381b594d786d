/* +++
id = "PCI-03"
title = "PCIe carries less than the card's ports"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "port_scope.role", "port_scope.card", "pci_function.parent"]
message = "{subject}: PCIe carries {observed}, its ports {expected}"
implied_by = ["PCI-01", "PCI-02", "N-09"]
since = "0.2"
sources = ["review PCI-03", "reference B6", "incident I-136", "Linux __pcie_print_link_status (pci.c)"]

[uses]
"nic_scope.is_grace" = "Grace root ports are no guest's, where lscpu cannot tell"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = "tells a device that was lent to a pod"
"nic_scope.netns_mode" = "only in exclusive mode does a lent RDMA device vanish from the host"
"probe_result.status" = "tells a device that was lent from one that was not read"
"node_class.pcie_limited" = "nothing is excused where the site says nothing"
"node_class.port_rate_gbps" = "the planned rate; where the site says nothing, the rate that the port has"
"port_scope.rate_gbps" = "unknown without it, unless the site says the rate"
"port_scope.state" = "the same: a port that is down prints a rate that is not its own"
"port_scope.netdev" = "finds the bond behind a port"
"port_scope.rate_dispute" = {purpose = "words"}
"port_scope.pci" = "finds the slot of a port"
"netdev.speed_mbps" = "the rate of a bond, whose RDMA port shows one member's"
"nic_path.gpu_gbps" = "asked of compute ports; unknown without it"
"nic_path.memory_gbps" = "asked of all others; unknown without it"
"nic_path.gpu_hop" = {purpose = "words"}
"nic_path.memory_hop" = {purpose = "words"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.usable_share]
default = 0.9
unit = "of the rate behind the encoding"
reason = "packet headers leave 0.914 at a payload of 256 bytes, flow control takes a little more (reference B6)"
+++
## Why it matters
Whatever the fabric does, the card cannot pass more than its PCIe links carry: those between it and the GPU beside it, or,
where no GPU hangs on the same switch, and for storage, those up to the CPU. A 400G port needs Gen5 x16; on Gen4 x16 it
ends at about 227 Gb/s and answers with pauses or drops when more arrives.

## What to do
If PCI-01, PCI-02 or N-09 fails for the same NIC, that is the cause. Else the slot is too small for the card: move it to a
slot that fits, fit the auxiliary card of a Socket Direct set, or accept it and say `pcie_limited` in the node class.

## When it is wrong
Two compute ports of one card count together; where one is a spare, give it the role unused. Of a storage card the faster
port counts: two are redundant more often than not. The links of a Socket Direct card are
added up, and its ports, which each half shows, are counted once. The kernel's line "limited by" alone says nothing: it
compares with what the card could do, not with its ports.
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
        into_memory_gbps(line_gbps, g.max_payload) as payload_gbps,
        wire_write_gbps(1, v.active_mtu, rdma_headers(p.link_layer, true)) as wire_share,
        case
            when p.role in ('management', 'unused') then 0
            when p.role = 'storage' and p.state = 'DOWN' then -1 -- its sibling tells, if there is one
            when p.role = 'compute' and c.port_rate_gbps is not null then c.port_rate_gbps
            when p.role is not null and p.state = 'ACTIVE'
                then case when b.netdev is null then p.rate_gbps else d.speed_mbps / 1000 end
        end as rate
    from port_scope as p
    inner join pci_function as f on f.target = p.target and f.pci = p.pci and (f.parent <> '' or f.parent is null)
    left join nic_path as e on e.target = p.target and e.pci = p.pci
    left join pci_config as g on g.target = p.target and g.pci = p.pci
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
        -- For the cost: what the wire and the packets of PCIe really leave (predict/macros.py).
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
        $usable_share * sum_known(gbps) as carried,
        -- A port whose slot was not read may be in any of them.
        case when count(rate) = count(*) and count(parent) = count(*) then max(rate) end as needed,
        case when count(wire_gbps) = count(*) then max(wire_gbps) end - sum_known(payload_gbps) as missing
    from slots
    group by target, card
)

select
    n.target,
    n.pci,
    printf('%.0f Gb/s', k.carried) as observed,
    printf('%.0f Gb/s', k.needed) as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and c.pcie_limited is not true
        and n.driver <> 'vfio-pci'
        and not (w.parent is null and n.device is null and n.netns_mode = 'exclusive' and r.status is not null)
        and w.is_used as applies,
    k.carried < k.needed as fault,
    'narrowest at ' || w.hop || case when k.slots > 1 then ', ' || k.slots || ' slots together' else '' end as detail,
    n.inferred,
    round(at_least(k.missing, 0) / count(*) over (partition by n.target, k.card), 1) as cost_gbps,
    case when w.has_dispute then 'sources_differ' when w.has_down then 'port_down' end as reason
from nic_scope as n
left join node_class as c on c.target = n.target
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join slots as w on w.target = f.target and w.parent = f.parent
left join cards as k on k.target = w.target and k.card = w.card
left join probe_result as r on r.target = n.target and r.probe = 'infiniband' and r.status in ('ok', 'absent')
