/* +++
id = "nic-flash-recovery"
aliases = ["N-10"]
title = "NIC in flash recovery mode"
severity = "blocker"
subject = "host"
needs = ["pci_function.vendor", "pci_function.device", "pci_function.class", "pci_function.physical_function"]
message = "{subject} has {observed}; expected {expected}"
action = "replace"
since = "0.2"
sources = ["review N-10", "pci.ids, Mellanox/mstflint kernel driver (ids of flash recovery)",
    "judgement: firmware 0.0.0 is none"]

[uses]
"rdma_device.firmware_version" = "a second sign; a card in recovery has no RDMA device"
"rdma_device.pci" = "the same"
"probe_result.status" = "the absence of such a card is a fact only if the functions were read"
"host_scope.compute_nics" = "if the class is missing a card, its role is not a guess"
"port_scope.role" = "the same"
"port_scope.card" = "the same"
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other ports carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
+++
## Why it matters
A card without a valid image in its flash comes up in flash recovery mode: a different PCI ID, a memory controller instead
of a network controller, no driver, no port. In a list of NICs the card seems to be missing.

## What to do
1. Burn the image of its board again: `flint -d PCI -i IMAGE burn` works in recovery mode. You need to know the board's
   PSID, because the card cannot report it.
2. Do a cold power cycle.
3. If the card falls back into recovery mode again, it is broken: replace it.

An ID of secure recovery means that the image was rejected: use the vendor's own image.

## Exceptions
During a firmware update a card may show the recovery ID for a moment: collect again. The role of a card cannot be read
while it is down, so the finding is a blocker only if the node class is missing a compute card.
*/
with recovery(id) as (
    values ('0191'), ('01f6'), ('01f8'), ('01ff'), ('0209'), ('020b'), ('020d'), ('020f'), ('0210'), ('0211'), ('0212'), ('0213'),
        ('0214'), ('0215'), ('0216'), ('0217'), ('0218'), ('0219'), ('021a'), ('021b'), ('021c'), ('021d'), ('021e'), ('021f'),
        ('0220'), ('0221')
),

empty as (
    select distinct target, pci from rdma_device where firmware_version like '0.0.0%'
),

-- Switches and DMA engines of a card are not cards: network controllers (02), and memory controllers (05) as in recovery.
functions as (
    select
        f.target,
        f.pci,
        case when r.id is not null then 'the flash recovery ID 15b3:' || f.device else 'firmware 0.0.0' end as words,
        f.vendor = '15b3' and f.physical_function = '' and (f.class like '02%' or f.class like '05%') as is_card,
        -- Any other id is one that running firmware has given to its card.
        case when f.device is not null then r.id is not null or e.pci is not null end as is_empty
    from pci_function as f
    left join recovery as r on r.id = f.device
    left join empty as e on e.target = f.target and e.pci = f.pci
    where f.vendor = '15b3' or f.vendor is null
),

cards as (
    select
        target,
        any_known(is_card) as has_card,
        any_known(is_card and is_empty) as is_empty,
        count(*) filter (is_card and is_empty) as lost,
        string_agg(distinct words, ', ' order by words) filter (is_card and is_empty) as words,
        string_agg(pci, ', ' order by pci) filter (is_card and is_empty) as places
    from functions
    group by target
)

select
    h.target,
    c.lost || case when c.lost = 1 then ' NIC with ' else ' NICs with ' end || c.words as observed,
    'firmware on every card' as expected,
    case when c.target is not null then c.has_card when p.status is not null then false end as applies,
    c.is_empty as fault,
    'at ' || c.places as detail,
    coalesce(h.compute_nics <= coalesce(r.found, 0), true) as inferred, -- null: no class, or no compute port was found at all
    case
        when h.compute_nics > coalesce(r.found, 0) -- null: no compute port was found at all
            then round(least(c.lost, h.compute_nics - coalesce(r.found, 0)) * o.card_gbps, 1) -- null: the same
    end as cost_gbps
from host_scope as h
left join cards as c on c.target = h.target
left join probe_result as p on p.target = h.target and p.probe = 'pci' and p.status = 'ok'
left join (
    select target, count(distinct card) as found from port_scope where role = 'compute' group by target
) as r on r.target = h.target
left join card_wire as o on o.target = h.target and o.role = 'compute'
