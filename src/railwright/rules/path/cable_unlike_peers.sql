/* +++
id = "cable-unlike-peers"
aliases = ["TOP-09"]
title = "Cabling deviates from peers"
severity = "high"
subject = "port"
peers = true
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.netdev", "port_scope.pci", "port_scope.cohort"]
message = "{subject} is cabled to {observed}; expected {expected}"
action = "reseat"
preview = true
implied_by = ["cable-wrong-rail", "cable-unlike-plan"]
covers = ["TOP-01"]
since = "0.2"
sources = [
  "review TOP-01, G-FLEET", "incident I-131",
  "judgement: the slot instead of the rail's number, which moves when a card is missing",
]

[uses]
"lldp_neighbor.system_name" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_members]
default = 8
unit = "ports of one kind on one leaf"
reason = "review G-FLEET: fewer do not make a peer group"

[parameters.least_share]
default = 0.8
unit = "of these ports in one slot"
reason = "review TOP-01: a pattern that more than 80 % follow; leaves that serve several rails have none"
+++
## Why it matters
In a rail fabric the same NIC of every host connects to one leaf. A cable in another leaf sends that rail's traffic over the
spine, where it competes with all other traffic. Bandwidth is lost, and troubleshooting looks at the counters of the wrong
switch.

## What to do
1. Trace the cable: usually two cables of one host are swapped, and both are reported here.
2. Re-cable in a maintenance window: both links go down.

## Exceptions
Without a cabling plan this is only a pattern: leaves that serve several rails, or hosts whose slots differ, show none and
are not checked. LLDP comes from the host's lldpd: if the firmware swallows it, the port is inconclusive.
*/
with heard as (
    -- Firmware that sends LLDP is a second neighbor: then it is unknown which is the switch.
    select
        target,
        netdev,
        case when count(distinct chassis_id) = 1 then min(chassis_id) end as leaf,
        min(system_name) as name,
        min(port_id) as leaf_port
    from lldp_neighbor
    group by target, netdev
),

leaves as (
    select
        h.leaf,
        p.cohort,
        count(*) as members,
        case when list_max(map_values(histogram(p.pci))) > $least_share * count(*) then mode_known(p.pci) end as pci, -- null: against all members
        case
            when list_max(map_values(histogram(p.pci))) > $least_share * count(*) then true -- null: against all members
            when count(p.pci) = count(*) then false
        end as has_pattern
    from port_scope as p
    inner join heard as h on h.target = p.target and h.netdev = p.netdev
    where p.role = 'compute' or p.role is null
    group by h.leaf, p.cohort
)

select
    p.target,
    p.device,
    p.port,
    case when p.pci <> l.pci then 'a leaf that serves another slot of its peers' else 'the leaf of its slot' end as observed,
    'the leaf of its slot' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
        and case when h.leaf is not null and p.cohort is not null then l.members >= $least_members and l.has_pattern end
        as applies,
    p.pci <> l.pci as fault,
    h.name || ' ' || h.leaf_port || ', which serves ' || l.pci || '; this NIC is at ' || p.pci as detail,
    p.inferred
from port_scope as p
left join heard as h on h.target = p.target and h.netdev = p.netdev
left join leaves as l on l.leaf = h.leaf and l.cohort = p.cohort
