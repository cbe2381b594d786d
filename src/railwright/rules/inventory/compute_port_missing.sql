/* +++
id = "compute-port-missing"
aliases = ["INV-03"]
title = "GPU host without a compute port"
severity = "high"
subject = "host"
needs = ["inventory_scope.is_read", "port_scope.role"]
message = "{subject} has {expected} and {observed}"
action = "ask"
implied_by = ["part-missing", "rdma-device-missing"]
cost = "the whole node (incident I-103)"
since = "0.2"
sources = [
  "incident I-103",
  "rdma-system(8): in exclusive mode a device moves with its network namespace",
  "judgement: GPUs that cannot reach another host are worth a word, whatever the reason",
]

[unless]
"port_scope.role" = "the host has no RDMA port"

[uses]
"host_scope.netns_mode" = "used only if a card shows no RDMA device: in exclusive mode a pod may have it"
"card.kind" = "whether there are GPUs, and which cards are NICs"
"card.part" = "which cards have RDMA"
"card.rdma_devices" = "whether a card's devices may be in a pod; inconclusive if they were not collected"
"card.switch_slot" = "which cards share a PCIe switch with GPUs"
"slot.slot" = "ports with nothing below"
"slot.kind" = "the same"
"port_scope.inferred" = "compute ports declared in the site file take precedence"
"card.is_given_away" = "whether a guest may have them"
"probe_result.status" = "no RDMA device at all is an answer"
+++
## Why it matters
Every rule about compute ports checks ports that exist. A host without any passes all of them, while its GPUs cannot take
part in any job that spans hosts.

## What to do
1. Run `lspci -d 15b3:` and see `part-missing`: are the NICs there at all?
2. Run `rdma link`: do they have RDMA devices (`rdma-device-missing`)?
3. If they are there and serve storage or management by design, declare which ports compute uses: `[[role]]` in the site
   file.

## Exceptions
If the GPUs work alone and the host is not meant to have an RDMA fabric, waive it. If pods or guests may have the devices,
the check is inconclusive.
*/
with gpus as (
    select target, count(*) filter (kind = 'gpu') as found from card group by target
),

ports as (
    select
        target,
        count(*) filter (role = 'compute') as compute,
        count(*) filter (role = 'compute' and not inferred) as declared,
        count(*) filter (role is null) as unsure,
        count(*) as total
    from port_scope
    group by target
),

-- Boards with a PCIe switch per GPU or two have a NIC below each. Where none of four or more has one, and each has an empty
-- port, a card elsewhere is not the one that the GPUs are meant to use, whatever its inferred role.
below as (
    select target, switch_slot, count(*) filter (kind = 'gpu') as gpus, count(*) filter (kind = 'nic') as nics
    from card
    where switch_slot <> ''
    group by target, switch_slot
),

bereft as (
    select b.target
    from below as b
    left join (
        select distinct c.target, c.switch_slot
        from below as c
        inner join slot as p on p.target = c.target and p.kind = 'port' and starts_with(p.slot, c.switch_slot || '/')
    ) as e on e.target = b.target and e.switch_slot = b.switch_slot
    where b.gpus > 0
    group by b.target
    having count(*) >= 4 and sum(b.nics) = 0 and count(e.target) = count(*) -- null: counts
),

-- Cards of vendors whose NICs have RDMA: if none of their devices is visible, a pod or a guest may have them.
bare as (
    select
        c.target,
        any_known(
            case
                when c.rdma_devices > 0 then false
                when c.is_given_away or h.netns_mode = 'exclusive' then true
                when c.rdma_devices is null or h.netns_mode is null then null
                else false
            end
        ) as may_be_elsewhere
    from card as c
    inner join host_scope as h on h.target = c.target
    where c.kind = 'nic' and starts_with(c.part, '15b3:')
    group by c.target
),

answered as (
    select target, bool_or(status in ('ok', 'absent')) as rdma from probe_result where probe = 'infiniband' group by target -- null: without an answer no row exists
)

select
    i.target,
    case
        when p.compute > 0 then 'no NIC below any of their PCIe switches, each of which has an empty port'
        when p.total > 0 then 'no compute port among ' || p.total || ' RDMA ports'
        else 'no RDMA port'
    end as observed,
    g.found || ' GPUs' as expected,
    case when i.is_read then coalesce(g.found, 0) > 0 end as applies, -- null: read, and no card: none
    case
        when p.compute > 0 and p.declared = 0 and e.target is not null then true
        when p.compute > 0 then false
        when not a.rdma or a.rdma is null then null
        when p.unsure > 0 then null
        when b.target is null then true
        when not b.may_be_elsewhere then true
    end as fault,
    case when b.may_be_elsewhere then 'elsewhere' end as reason
from inventory_scope as i
left join gpus as g on g.target = i.target
left join ports as p on p.target = i.target
left join bare as b on b.target = i.target
left join answered as a on a.target = i.target
left join bereft as e on e.target = i.target
