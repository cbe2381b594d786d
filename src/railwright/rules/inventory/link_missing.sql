/* +++
id = "link-missing"
aliases = ["INV-04"]
title = "NIC link missing"
severity = "medium"
subject = "pci_function"
peers = true
needs = ["part_scope.state", "part_scope.is_confirmed", "part_scope.links"]
message = "{subject} has {observed}; expected {expected}"
action = "reseat"
implied_by = ["rdma-device-missing", "bond-member-down"]
since = "0.2"
sources = [
  "review LNK-01 (a port that is down, whatever it is for)",
  "Documentation/ABI/testing/sysfs-class-net (carrier, operstate)",
  "judgement: severity; the reference is that of part-missing",
]

[unless]
"part_scope.links" = "no number of links is expected"

[uses]
"part_scope.kind" = "NICs only"
"part_scope.pci" = "the subject"
"part_scope.slot" = "the functions of a card"
"part_scope.source" = "what expects it; parts that only some of a class have are left to part-missing"
"part_scope.snapshot" = {purpose = "words"}
"part_scope.members" = {purpose = "words"}
"part_scope.found_part" = "only cards that are there"
"part_scope.links_wanted" = "nothing is expected without a usual number"
"part_scope.netdevs" = "if network devices are missing, their links may be in a pod or a guest"
"part_scope.netdevs_wanted" = "the same"
"part_scope.functions_wanted" = "the same, if the site file gives no number"
"part_scope.is_given_away" = "a guest or a program in user space has the links"
"part_scope.is_driverless" = "the links of a card without a driver cannot be elsewhere"
"slot.pci" = "the functions of a card"
"slot.slot" = "the same"
"port_scope.pci" = "which of its ports port-down reports"
"port_scope.role" = "the same"
"port_scope.state" = "the same, and whether a port whose network device is in a pod has its link"
"port_scope.netdev" = "which ports have their network device in a pod"
"netdev.name" = "the device of an InfiniBand port"
"netdev.carrier" = "whether it is counted already; if it was not collected, the number of links is unknown"
"port_scope.link_layer" = "the same"
"slot.part" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the ports of cards of its type carry; none is known of cards without RDMA"}
"verbs_port.active_mtu" = {purpose = "cost"}
"host.uptime_s" = "used if a link is missing; if it was not collected, the link counts as missing"

[parameters.settles_s]
default = 600
unit = "s since boot"
reason = "review LNK-01: optics and training take minutes after a boot"
+++
## Why it matters
On management, storage without RDMA, or a bond's second leg, a lost link goes unnoticed until the other one fails, or until
the host cannot be reached when it must be. On a bond it is half of the bandwidth.

## What to do
1. Run `ip -br link` and `ethtool NETDEV`: which of the card's ports has no link, and was it turned off on purpose?
2. Check the switch port, then the cable, then the module, one end at a time.
3. If the cable was removed on purpose, set `links` of the slot in the site file, or waive it.

## Exceptions
Only the number of links counts: a cable in the card's other port is fine. Compute and storage ports of RDMA devices that
are down are reported by `port-down`. An InfiniBand port counts by itself, whether IPoIB is up on it or not. In the first
ten minutes after the host's boot a missing link is inconclusive, and so are links of network devices that a pod or a guest
may have.
*/
-- Ports that port-down reports are not counted a second time. The device of a bond is active while one of its ports has a link.
with named as (
    select s.target, s.slot, count(distinct p.pci) as ports
    from slot as s
    inner join port_scope as p on p.target = s.target and p.pci = s.pci
    where p.role in ('compute', 'storage') and p.state <> 'ACTIVE'
    group by s.target, s.slot
),

-- Where the RDMA port is active, a network device in a pod has its link, and so has an InfiniBand port whose IPoIB device is
-- off: many sites use none.
away as (
    select s.target, s.slot, count(distinct p.pci) as ports
    from slot as s
    inner join port_scope as p on p.target = s.target and p.pci = s.pci and p.state = 'ACTIVE'
    left join netdev as n on n.target = p.target and n.name = p.netdev
    where case p.link_layer when 'Ethernet' then p.netdev = '' when 'InfiniBand' then n.carrier is not true end
    group by s.target, s.slot
),

cards as (
    select
        p.*,
        p.links + coalesce(n.ports, 0) + coalesce(o.ports, 0) as told, -- null: there are none
        case
            when p.is_given_away then true
            when p.is_driverless then false
            when p.netdevs_wanted is not null then p.netdevs < p.netdevs_wanted
            else p.netdevs < p.functions_wanted
        end as may_be_elsewhere
    from part_scope as p
    left join named as n on n.target = p.target and n.slot = p.slot
    left join away as o on o.target = p.target and o.slot = p.slot
    where p.kind = 'nic' and p.found_part is not null and p.source <> 'split'
    -- Two names of one slot may lead to one card.
    qualify row_number() over (partition by p.target, p.pci order by p.slot, p.links_wanted) = 1
)

select
    c.target,
    c.pci,
    printf('%d of %d links', c.links, c.links_wanted) as observed,
    case c.source
        when 'site' then 'the number in the site file'
        when 'earlier' then 'the same as in snapshot ' || c.snapshot
        else 'the same as on most of the ' || c.members || ' hosts of its class'
    end as expected,
    case
        when c.links_wanted is null or c.links_wanted = 0 or c.state in ('dead', 'replaced', 'empty') then false
        when c.state is not null then true
    end as applies,
    case
        when not c.is_confirmed or c.is_confirmed is null then null
        when c.told >= c.links_wanted then false
        when c.may_be_elsewhere or h.uptime_s < $settles_s then null
        else c.told < c.links_wanted
    end as fault,
    case when c.told < c.links_wanted then round((c.links_wanted - c.told) * w.port_gbps, 1) end as cost_gbps,
    case
        when not c.is_confirmed then 'unconfirmed'
        when c.told < c.links_wanted and c.may_be_elsewhere then 'elsewhere'
    end as reason
from cards as c
left join host as h on h.target = c.target
left join part_wire as w on w.target = c.target and w.part = c.found_part
