/* +++
id = "N-17"
title = "A link of the bond is down"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev.master", "bond_member.mii_status"]
message = "{subject} has {observed} in its bond"
since = "0.2"
sources = ["review N-17", "scitix/sichek bond specification"]

[uses]
"port_scope.inferred" = {purpose = "severity"}

[grades]
high = "a bond for compute or storage"
medium = "the bond that the host is managed through"
+++
## Why it matters
The RDMA port stays up on the links that are left: half of the bandwidth is gone and nobody is told. The next failure takes
the port down; of the bond that the host is managed through it takes the host away.

## What to do
Look at that member as at any port that is down: `mlxlink -d PCI -m`, the switch port, clean, reseat, swap. If the link is up
and the bond still leaves it out, look at LACP on the switch.

## When it is wrong
Planned work on one of two switches: then it is expected, and over when the work is.
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

-- Ports of one card in a bond share an RDMA device, which rides all its links. Where the bond has several, each rides its own.
devices as (
    select target, bond, count(*) as ports from bonds group by target, bond
),

members as (
    select
        target,
        bond,
        any_known(mii_status <> 'up') as is_down,
        string_agg(member || ' ' || mii_status, ', ' order by member) filter (mii_status <> 'up') as words
    from bond_member
    group by target, bond
)

select
    p.target,
    p.device,
    p.port,
    case when d.ports > 1 and l.member is not null then l.member || ' ' || l.mii_status else m.words end as observed,
    'all links up' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage', 'management') and p.netdev <> ''
        and case when b.netdev is not null then true when o.master is not null then false end as applies,
    case when d.ports > 1 and l.member is not null then l.mii_status <> 'up' else m.is_down end as fault,
    b.netdev as detail,
    p.inferred,
    case when p.role = 'management' then 'medium' else 'high' end as severity
from port_scope as p
left join bonds as o on o.target = p.target and o.device = p.device and o.port = p.port
left join bond as b on b.target = o.target and b.netdev = o.bond
left join devices as d on d.target = b.target and d.bond = b.netdev
left join members as m on m.target = b.target and m.bond = b.netdev
left join bond_member as l on l.target = b.target and l.bond = b.netdev and l.member = p.netdev
