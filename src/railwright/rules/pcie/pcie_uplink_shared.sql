/* +++
id = "pcie-uplink-shared"
title = "Shared PCIe link slower than its NICs"
severity = "medium"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.role", "port_scope.role", "port_scope.card", "nic_path.gpu", "nic_path.memory_gbps"]
message = "{subject}: a shared PCIe link carries {observed} for all NICs behind it; their ports run at {expected}"
action = "reseat"
implied_by = ["pcie-link-downtrained", "pcie-link-narrow", "pcie-below-port-rate"]
preview = true
since = "0.3"
sources = [
  "reference B6", "Linux __pcie_print_link_status (pci.c): the narrowest hop bounds all that is below it",
  "judgement: what a NIC moves for the GPU beside it below one switch does not pass the switch's own link; two storage ports are redundant",
]

[uses]
"nic_scope.is_grace" = "Grace root ports mean that the host is not a guest, if lscpu cannot tell"
"nic_scope.inferred" = {purpose = "severity"}
"node_class.port_rate_gbps" = "the planned rate; if the site file does not set it, the rate of the port"
"node_class.pcie_limited" = "no NIC is excused if the site file does not set it"
"port_scope.pci" = "finds the path of a port"
"port_scope.state" = "a port that is down reports a rate that is not its own"
"port_scope.rate_gbps" = "inconclusive without it, unless the site file sets the rate"
"gpu_nic.common_hop" = "where the NIC and the GPU beside it meet"
"pcie_path.hop" = "a path that was not read has no narrowest hop either"
"pcie_path.place" = "the same"
"pcie_path.gbps" = "the same"
"pci_config.max_payload" = {purpose = "words", why = "what packet headers leave, and the cost"}
"pcie_endpoint.root_port" = {purpose = "words", why = "the same, of what the NICs read"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}

[parameters.usable_share]
default = 0.9
unit = "of the rate after encoding"
reason = "packet headers leave 0.914 at a payload of 256 bytes, flow control takes a little more (reference B6)"
+++
## Why it matters
All cards behind a PCIe switch share its one link to the CPU. Each card has the lanes that it needs, but together they do
not get their full rate: the host pauses the network or drops packets, and only when several NICs are busy.

## What to do
Move one of the cards to a slot of its own, or next to the GPUs that it serves: traffic between a NIC and a GPU below the
same switch does not cross the shared link. Or accept it and set `pcie_limited` in the node class.

## Exceptions
The check assumes that all compute ports are busy at once. Of the storage ports on one link only the fastest counts, because
two are usually redundant. Drives on the same link are not counted, although they use part of it.
*/
with ports as (
    select
        p.target,
        p.pci,
        p.card,
        p.role,
        case
            when p.role = 'compute' and c.port_rate_gbps is not null then c.port_rate_gbps
            when p.state = 'ACTIVE' then p.rate_gbps
        end as rate,
        wire_write_gbps(rate, v.active_mtu, rdma_headers(p.link_layer, true)) as wire_gbps,
        x.max_payload,
        x.completion_payload
    from port_scope as p
    left join node_class as c on c.target = p.target
    left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
    left join nic_packets as x on x.target = p.target and x.pci = p.pci
    where p.role in ('compute', 'storage') or p.role is null
),

-- Up to where the NIC meets its GPU, or to the root complex.
ways as (
    select
        p.target,
        p.pci,
        p.card,
        p.role,
        p.rate,
        h.hop,
        h.gbps,
        pcie_gbps(h.gbps, p.max_payload, p.completion_payload) as payload_gbps
    from ports as p
    inner join pcie_path as h on h.target = p.target and h.pci = p.pci and h.place > 0
    left join nic_path as w on w.target = p.target and w.pci = p.pci and p.role = 'compute' and w.gpu <> ''
    left join gpu_nic as g on g.target = w.target and g.nic = w.pci and g.gpu = w.gpu
    left join pcie_path as m on m.target = g.target and m.pci = g.nic and m.hop = g.common_hop
    where m.place is null or h.place < m.place
),

hops as (
    select
        target,
        hop,
        min(gbps) as gbps,
        case when count(payload_gbps) = count(*) then min(payload_gbps) end as payload_gbps,
        count(distinct card) as cards,
        count(distinct pci) as nics,
        sum(rate) filter (role = 'compute') as compute_gbps, -- null: the same as below
        max(rate) filter (role = 'storage') as storage_gbps, -- null: one that was not read is not whole
        count(rate) = count(*) and count(role) = count(*) and count(card) = count(*) as is_whole
    from ways
    group by target, hop
),

links as (
    select
        *,
        $usable_share * gbps as usable,
        coalesce(compute_gbps, 0) + coalesce(storage_gbps, 0) as needed -- null: there is none; one that was not read is not whole
    from hops
    where cards > 1 or not is_whole
),

tight as (
    select
        w.target,
        w.pci,
        any_known(case when l.cards > 1 then true when l.is_whole then false end) as is_shared,
        any_known(case when l.usable < l.needed and l.cards > 1 then true when l.is_whole then false end) as fault,
        arg_max(l, row(l.needed - l.usable, l.hop)) as worst -- null: only for the words
    from ways as w
    inner join links as l on l.target = w.target and l.hop = w.hop
    group by w.target, w.pci
),

-- For the cost: what each card would carry by itself, as `predict ceiling` has it. The ports of a card share its slot, the slots
-- of a Socket Direct card are added up, and each shows all its ports.
slots as (
    select
        p.target,
        p.card,
        p.role,
        h.hop,
        case
            when p.role = 'compute' then sum_known(p.wire_gbps)
            when count(p.wire_gbps) = count(*) then max(p.wire_gbps)
        end as wire_gbps,
        min(pcie_gbps(e.gbps, p.max_payload, p.completion_payload)) as payload_gbps,
        count(pcie_gbps(e.gbps, p.max_payload, p.completion_payload)) = count(*) as is_whole
    from ports as p
    left join pcie_path as h on h.target = p.target and h.pci = p.pci and h.place = 1
    left join nic_line as e on e.target = p.target and e.pci = p.pci
    group by p.target, p.card, p.role, h.hop
),

cards as (
    select
        target,
        card,
        role,
        case when count(wire_gbps) = count(*) then max(wire_gbps) end as wire_gbps,
        sum_known(case when is_whole then payload_gbps end) as payload_gbps
    from slots
    group by target, card, role
),

loads as (
    select
        w.target,
        w.hop,
        sum_known(case when w.role = 'compute' then ceiling_of(c.wire_gbps, null, c.payload_gbps, null) else 0 end) as compute_gbps,
        max(case when w.role = 'storage' then ceiling_of(c.wire_gbps, null, c.payload_gbps, null) else 0 end) as storage_gbps,
        count(ceiling_of(c.wire_gbps, null, c.payload_gbps, null)) = count(*) as is_whole
    from (select distinct target, hop, card, role from ways) as w
    left join cards as c on c.target = w.target and c.card = w.card and c.role = w.role
    group by w.target, w.hop
)

select
    n.target,
    n.pci,
    case
        when t.worst.payload_gbps is not null then printf('%.1f Gb/s', t.worst.payload_gbps)
        else printf('%.1f Gb/s less packet headers', t.worst.gbps)
    end as observed,
    printf('%.0f Gb/s', t.worst.needed) as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and case
            when n.role in ('management', 'unused') then false
            when w.gpu is not null and w.memory_gbps is not null and n.role is not null
                then case when t.pci is null then false else t.is_shared end
        end
        and c.pcie_limited is not true as applies,
    t.fault,
    'at ' || t.worst.hop || ', ' || t.worst.nics || ' NICs below it' as detail,
    n.inferred,
    case
        when o.is_whole then round(at_least(o.compute_gbps + o.storage_gbps - t.worst.payload_gbps, 0) / t.worst.nics, 1)
    end as cost_gbps
from nic_scope as n
left join nic_path as w on w.target = n.target and w.pci = n.pci
left join node_class as c on c.target = n.target
left join tight as t on t.target = n.target and t.pci = n.pci
left join loads as o on o.target = n.target and o.hop = t.worst.hop
