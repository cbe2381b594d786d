/* +++
id = "bond-unfit-for-roce"
aliases = ["N-26"]
title = "Bond mode unsuitable for RoCE"
severity = "medium"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev.master", "netdev.pci", "bond.mode_number",
  "bond_member.aggregator",
]
message = "{subject} is in a bond that does not suit RoCE: {observed}"
action = "ask"
setting = "bond"
covers = ["N-17"]
since = "0.2"
sources = [
  "review N-17", "scitix/sichek bond specification",
  "Linux drivers/net/ethernet/mellanox/mlx5/core/lag (port_sel_mode: hash or queue_affinity)",
  "judgement: members in different LACP aggregators are two links of which one idles",
]

[uses]
"port_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"bond.hash_policy" = "not used by a standby link (mode 1)"
"bond.mode" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
mlx5 carries RDMA over a bond only if all members are ports of one card and the mode is 1, 2 or 4. Both functions then
become one RDMA device. Otherwise RDMA uses only one link, or each function keeps its own RDMA device and the bond does not
see its traffic. A hash over MAC addresses (layer2) sends everything to the router over one link.

## What to do
Drain the host first: changing the bond takes it down. In the network configuration (netplan, NetworkManager, ifcfg), set
mode 802.3ad and `xmit_hash_policy layer3+4`, with both members on one card. If the members are in different aggregators,
fix LACP on the switch side. If each function still has its own RDMA device, the card has not bonded them. Possible causes:
virtual functions in legacy mode, functions in different eswitch modes, or RoCE off on one of them.

## Exceptions
If the bond is meant for IP only, with RDMA on the functions below it, give these ports their own role in the site file. The
halves of a Socket Direct card have different PCI addresses and look like two cards here: waive that finding. Bonds for
management and bonds of other vendors' cards are not checked. The hash layer2+3 is not reported: it spreads traffic by IP
address, although all flows between two addresses then share one link. RoCE follows the bond's hash only if the card's LAG
is in hash mode. In queue affinity mode the driver gives each queue pair a port, and a finding that names only the hash
concerns IP traffic; `/sys/kernel/debug/mlx5/PCI/lag/port_sel_mode` shows the mode, which is not collected.
*/
with bonds as (
    -- The bond of the port's device; or the device is a bond itself.
    select
        p.target,
        p.device,
        p.port,
        n.master,
        case when n.master = '' then p.netdev else n.master end as bond
    from port_scope as p
    left join netdev as n on n.target = p.target and n.name = p.netdev
),

-- If a port's device does not report its master, its bond is unknown.
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
