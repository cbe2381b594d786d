/* +++
id = "N-26"
title = "The bond is not fit for RoCE"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev.master", "netdev.pci", "bond.mode_number",
  "bond_member.aggregator",
]
message = "{subject} is in a bond that is not fit for RoCE: {observed}"
covers = ["N-17"]
since = "0.2"
sources = [
  "review N-17", "scitix/sichek bond specification",
  "judgement: members in different LACP aggregators are two links of which one idles",
]

[uses]
"port_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"bond.hash_policy" = "a standby link (mode 1) has no use for it"
"bond.mode" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
mlx5 carries RDMA over a bond only if its links are ports of one card and its mode is 1, 2 or 4: then both functions become
one RDMA device. Otherwise RDMA rides one link, or each function stays a device of its own whose traffic the bond does not
know. A hash over MAC addresses sends everything to the router over one link.

## What to do
Mode 802.3ad, `xmit_hash_policy layer3+4`, both members on one card, in the network configuration (netplan, NetworkManager,
ifcfg). Changing it takes the bond down: drain the host. Members in different aggregators: LACP on the switch side.

## When it is wrong
A bond that is meant for IP only, with RDMA on the functions below it: give these ports a role of their own in the site file.
Halves of a Socket Direct card have different PCI addresses and look like two cards here.
*/
with bonds as (
    -- What the port's device belongs to; or it is a bond itself.
    select
        p.target,
        p.device,
        p.port,
        n.master,
        case when n.master = '' then p.netdev else n.master end as bond
    from port_scope as p
    left join netdev as n on n.target = p.target and n.name = p.netdev
),

-- Of a port whose device says nothing about its master nobody knows in which bond it is.
devices as (
    select target, bond, count(*) as ports, count(*) filter (bond is null) over (partition by target) as unplaced
    from bonds
    group by target, bond
),

members as (
    select
        m.target,
        m.bond,
        case when count(n.pci) = count(*) then count(distinct split_part(n.pci, '.', 1)) end as cards,
        case when count(m.aggregator) = count(*) then count(distinct m.aggregator) end as aggregators
    from bond_member as m
    left join netdev as n on n.target = m.target and n.name = m.member
    group by m.target, m.bond
),

judged as (
    select
        b.target,
        b.netdev,
        b.mode_number <> 1 and b.mode_number <> 2 and b.mode_number <> 4 as is_odd_mode,
        b.mode_number <> 1 and b.hash_policy = 'layer2' as is_flat_hash,
        m.cards > 1 as is_split,
        m.aggregators > 1 as is_half,
        case when d.ports > 1 then true when d.unplaced = 0 then false end as is_unmerged,
        concat_ws(', ',
            case when is_odd_mode then 'mode ' || b.mode end,
            case when is_flat_hash then 'hash ' || b.hash_policy end,
            case when is_split then 'links on ' || m.cards || ' cards' end,
            case when is_half then 'links in ' || m.aggregators || ' LACP aggregators' end,
            case when is_unmerged then d.ports || ' RDMA devices instead of one' end
        ) as words
    from bond as b
    left join members as m on m.target = b.target and m.bond = b.netdev
    left join devices as d on d.target = b.target and d.bond = b.netdev
)

select
    p.target,
    p.device,
    p.port,
    j.words as observed,
    'mode 1, 2 or 4, hash layer3+4, one card, one RDMA device' as expected,
    not is_of_other_vendor(p.vendor) and p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.netdev <> ''
        and case when j.netdev is not null then true when o.master is not null then false end as applies,
    j.is_odd_mode or j.is_flat_hash or j.is_split or j.is_half or j.is_unmerged as fault,
    j.netdev as detail,
    p.inferred
from port_scope as p
left join bonds as o on o.target = p.target and o.device = p.device and o.port = p.port
left join judged as j on j.target = o.target and j.netdev = o.bond
