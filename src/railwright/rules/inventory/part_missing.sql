/* +++
id = "part-missing"
aliases = ["INV-01"]
title = "NIC or GPU missing"
severity = "blocker"
subject = "host"
peers = true
needs = ["inventory_scope.is_read", "part_scope.state", "part_scope.is_confirmed"]
message = "{subject}: {observed}; expected {expected}"
action = "reseat"
cost = "a rank or a rail of the node (incident I-103)"
since = "0.2"
sources = [
  "incident I-103",
  "review PCI-08 (never trim the expectation to what is found)",
  "NVIDIA k8s-launch-kit pkg/presets/validate.go (parts per slot are what a server is held to; part number and PSID are not)",
  "judgement: severities, four members, a build that merely lacks something is not a variant",
]

[grades]
blocker = "a GPU or an RDMA card that the site file or most hosts of its class have"
high = "another network card, a card that was seen before, or one that is listed but does not respond"
medium = "some hosts of its class have it, but not most; another card in its slot; a GPU's switch without the NIC of the others; fewer GPUs than the server's board has"

[unless]
"part_scope.state" = "the host has no reference, which makes it inconclusive"
"part_scope.is_confirmed" = "the same"

[uses]
"inventory_scope.class_reason" = {purpose = "words"}
"inventory_scope.held_to" = "a host of the site that is not in the snapshot is inconclusive"
"inventory_scope.board_gpus" = "how many GPUs the model has, if there is nothing else to compare with"
"part_scope.kind" = "the severity and the words"
"part_scope.part" = {purpose = "words"}
"part_scope.pci" = {purpose = "words"}
"part_scope.slot" = {purpose = "words"}
"part_scope.source" = "what expects it: the key of the row"
"part_scope.snapshot" = {purpose = "words"}
"part_scope.members" = {purpose = "words"}
"part_scope.votes" = {purpose = "words"}
"part_scope.is_less" = "tells a build that lacks something from one that is different"
"part_scope.found_part" = {purpose = "words"}
"part_scope.rdma_devices_wanted" = "the severity"
"slot.part" = {purpose = "cost"}
"slot.pci" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.role" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the ports of cards of its type carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
"card.state" = "a dead card is missing, expected or not; the others count by what is expected"
"card.kind" = "which of them are NICs and GPUs"
"card.part" = "asymmetry within a host that has nothing else to compare with"
"card.switch_slot" = "the same"
"card.pci" = {purpose = "words"}
"probe_result.status" = "no PCI at all is an answer"
+++
## Why it matters
A card that is gone takes its rail or its rank with it, and every list that counts what is there is merely one entry
shorter. The job does not start, or the whole collective runs at the pace of the host that lost it.

## What to do
1. Read the host's kernel log: a GPU that fell off the bus is reported there (Xid 79), and a failed NIC by its driver.
2. Drain the host and power it off completely; a warm reboot rarely brings a card back.
3. Reseat the card, then try another one in the same slot.
4. If the part was removed on purpose, update the site file: `railwright intent init` proposes `slots` for each class;
   delete the slot there.

## Exceptions
A slot is named by the firmware's name of its root bridge and the ports down to it. A BIOS update may rename root bridges:
if the same number of similar parts sits in the same places below bridges with other names, the check is inconclusive; let
`railwright intent init` propose the slots again. Two builds of one model are two classes in the site file. A card that was
moved is missing from its old slot. Cards that a pod or a guest has are still on the bus and count as present.
*/
with lost as (
    select
        target,
        kind,
        part,
        slot,
        pci,
        source,
        snapshot,
        members,
        votes,
        found_part,
        state,
        rdma_devices_wanted,
        case
            when (source = 'split' and not is_less) or state = 'renamed' then null
            when is_confirmed then state <> 'alive'
        end as is_lost,
        case
            when source = 'split' and not is_less then 'split'
            when not is_confirmed then 'unconfirmed'
            when state = 'renamed' then 'renamed'
        end as reason,
        case
            when source = 'split' or state = 'replaced' then 3
            when source in ('site', 'class') and (kind = 'gpu' or rdma_devices_wanted > 0) then 1
            else 2
        end as grade
    from part_scope
    union all by name
    -- Dead, and not expected by name.
    select c.target, c.kind, c.part, c.slot, c.pci, 'itself' as source, c.state, true as is_lost, 2 as grade
    from card as c
    anti join part_scope as p on p.target = c.target and p.slot = c.slot -- null: a slot is part of both keys
    where c.state = 'dead' and c.kind in ('nic', 'gpu')
),

-- What is lost in the same way is said once; where that is, the detail says.
worded as (
    select
        target,
        min(grade) as grade,
        upper(kind) || case when part = '' then '' else ' ' || part end as what,
        case
            when state = 'dead' then 'listed but does not respond'
            when state = 'replaced' then found_part || ' is there instead'
            when state = 'empty' then 'slot empty'
            else state
        end as how,
        count(*) as cards
    from lost
    where is_lost
    group by target, what, how
),

missing as (
    select
        target,
        string_agg(case when cards > 1 then cards || 'x ' else '' end || what || ': ' || how, '; ' order by grade, what, how) as words
    from worded
    group by target
),

told as (
    select
        l.target,
        count(*) filter (is_lost) as lost,
        count(*) filter (is_lost is null and reason is null) as unread,
        count(*) filter (source <> 'split' and source <> 'itself') as expected,
        max(reason) filter (is_lost is null) as reason,
        min(grade) filter (is_lost) as grade,
        string_agg(
            upper(l.kind) || ' slot ' || l.slot || case when l.pci = '' then '' else ' (' || l.pci || ')' end, ', ' order by l.grade, l.slot
        ) filter (is_lost) as places,
        min_by( -- null: only for the words
            case source
                when 'site' then 'the card in the site file'
                when 'earlier' then 'the card seen in snapshot ' || snapshot
                when 'itself' then 'a card that responds'
                else 'the card that ' || votes || ' of ' || members || ' hosts of its class have'
            end,
            grade
        ) filter (is_lost) as who,
        min(votes || ' of ' || members || ' hosts of its class have ' || upper(kind) || ' ' || l.part || ' in slot ' || slot)
            filter (reason = 'split') as dispute,
        -- A GPU or a card without RDMA carries nothing; of an RDMA card that has no like on the host nothing is known.
        sum(l.rdma_devices_wanted * w.port_gbps) filter (is_lost) as gbps, -- null: counted in the next line
        count(*) filter (is_lost and kind = 'nic' and l.rdma_devices_wanted > 0) as rdma_cards,
        count(w.port_gbps) filter (is_lost and kind = 'nic' and l.rdma_devices_wanted > 0) as priced
    from lost as l
    left join part_wire as w on w.target = l.target and w.part = l.part and l.kind = 'nic'
    group by l.target
),

-- Without any reference: most switches that hold a GPU hold the same kind of NIC too, and one does not.
below as (
    select target, switch_slot, count(*) filter (kind = 'gpu') as gpus, list(part) filter (kind = 'nic') as nics
    from card
    where switch_slot <> '' and kind in ('gpu', 'nic')
    group by target, switch_slot
    having gpus > 0
),

usual_nic as (
    select target, arg_max(part, row(n, part)) as part -- null: every card has a part
    from (select target, part, count(*) as n from (select target, unnest(nics) as part from below) group by target, part)
    group by target
),

uneven as (
    select
        b.target,
        count(*) as switches,
        count(*) filter (list_contains(b.nics, u.part)) as having_it,
        min(b.switch_slot) filter (not coalesce(list_contains(b.nics, u.part), false)) as lacking, -- null: no NIC there
        min(u.part) as part
    from below as b
    inner join usual_nic as u on u.target = b.target
    group by b.target
    having 2 * having_it > switches and having_it < switches
),

gpus as (
    select target, count(*) filter (kind = 'gpu') as found from card group by target
),

bus as (
    select target, bool_or(status = 'absent') as is_absent from probe_result where probe = 'pci' group by target -- null: every answer has a status
),

judged as (
    select
        i.target,
        i.is_read,
        i.held_to,
        i.class_reason,
        b.is_absent,
        t.* exclude (target),
        m.words as missing,
        u.lacking,
        u.part as uneven_part,
        u.having_it,
        u.switches,
        -- One without any may be of the same model and another build: a storage server.
        coalesce(g.found, 0) as found_gpus, -- null: read, and no card: none
        i.board_gpus,
        case when t.expected > 0 then true else false end as has_reference
    from inventory_scope as i
    left join told as t on t.target = i.target
    left join missing as m on m.target = i.target
    left join uneven as u on u.target = i.target
    left join bus as b on b.target = i.target
    left join gpus as g on g.target = i.target
)

select
    target,
    case
        when lost > 0 then missing
        when not has_reference and found_gpus between 1 and board_gpus - 1 then found_gpus || case found_gpus when 1 then ' GPU' else ' GPUs' end
        when not has_reference and lacking is not null then 'no NIC ' || uneven_part || ' below one of its PCIe switches'
        when dispute is not null then dispute || '; this one does not'
        else 'all present'
    end as observed,
    case
        when lost > 0 then who
        when not has_reference and found_gpus between 1 and board_gpus - 1 then board_gpus || ' on the board of this model'
        when not has_reference and lacking is not null then 'one, as below ' || having_it || ' of ' || switches || ' switches of this host that hold a GPU'
        else 'the cards of its class, the site file or an earlier snapshot'
    end as expected,
    case when is_absent and not has_reference then false else true end as applies,
    case
        when not is_read then null
        when is_read is null then null
        when lost > 0 then true
        when unread > 0 or reason is not null then null
        when has_reference then false
        when found_gpus between 1 and board_gpus - 1 or lacking is not null then true
    end as fault,
    concat_ws('; ', case when lost > 0 then places when not has_reference then 'switch ' || lacking end, class_reason) as detail,
    case when rdma_cards > 0 and priced = rdma_cards then round(gbps, 1) end as cost_gbps,
    case when lost > 0 then (['blocker', 'high', 'medium'])[grade] else 'medium' end as severity,
    case
        when held_to = 'nobody' then 'not_collected'
        when is_read and not has_reference and reason is null then 'no_reference'
        when is_read then reason
    end as reason
from judged
