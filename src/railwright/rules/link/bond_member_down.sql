/* +++
id = "bond-member-down"
aliases = ["N-17"]
title = "Bond member down"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.netdev", "netdev.master", "bond_member.mii_status"]
message = "{subject} has {observed} in its bond"
action = "reseat"
since = "0.2"
sources = ["review N-17", "scitix/sichek bond specification"]

[uses]
"port_scope.inferred" = {purpose = "severity"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "a bond's device has the rate of one member"}
"verbs_port.active_mtu" = {purpose = "cost"}

[grades]
high = "a bond for compute or storage"
medium = "the management bond of the host"
+++
## Why it matters
The RDMA port stays up on the remaining links, so half of the bandwidth is lost without any alarm. The next failure takes
the port down. If it is the management bond, that failure makes the host unreachable.

## What to do
Troubleshoot the member like any port that is down: run `mlxlink -d PCI -m`, check the switch port, then clean, reseat and
swap. If the link is up and the bond still does not use it, check LACP on the switch.

## Exceptions
Expected during planned work on one of two switches. The finding clears when the work is done.
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

-- Ports of one card in a bond share an RDMA device, which uses all its links. If the bond has several, each uses its own.
devices as (
    select target, bond, count(*) as ports from bonds group by target, bond
),

members as (
    select
        target,
        bond,
        any_known(mii_status <> 'up') as is_down,
        count(*) filter (mii_status <> 'up') as lost,
        string_agg(member, ', ' order by member) filter (mii_status <> 'up') as names
    from bond_member
    group by target, bond
),

statuses as (
    select target, bond, string_agg(links || case when links = 1 then ' link ' else ' links ' end || mii_status, ', ' order by mii_status) as words
    from (select target, bond, mii_status, count(*) as links from bond_member where mii_status <> 'up' group by all)
    group by target, bond
)

select
    p.target,
    p.device,
    p.port,
    case when d.ports > 1 and l.member is not null then '1 link ' || l.mii_status else s.words end as observed,
    'all links up' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage', 'management') and p.netdev <> ''
        and case when b.netdev is not null then true when o.master is not null then false end as applies,
    case when d.ports > 1 and l.member is not null then l.mii_status <> 'up' else m.is_down end as fault,
    b.netdev || case
        when d.ports > 1 and l.member is not null then ', ' || l.member
        when m.is_down then ', ' || m.names
        else ''
    end as detail,
    p.inferred,
    -- What the device itself still carries is that of one member; where it carries nothing port-down counts it.
    case when p.role <> 'management' and w.wire_gbps > 0 then round(m.lost * w.wire_gbps, 1) end as cost_gbps,
    case when p.role = 'management' then 'medium' else 'high' end as severity
from port_scope as p
left join bonds as o on o.target = p.target and o.device = p.device and o.port = p.port
left join bond as b on b.target = o.target and b.netdev = o.bond
left join devices as d on d.target = b.target and d.bond = b.netdev
left join members as m on m.target = b.target and m.bond = b.netdev
left join statuses as s on s.target = b.target and s.bond = b.netdev
left join bond_member as l on l.target = b.target and l.bond = b.netdev and l.member = p.netdev
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
