-- Devices of hosts that a plan keeps, and why: packets to the machine come in by them (way), its storage goes over them (storage), the
-- site file never lets them be touched (never). Tables at hand: touched, routed, never (patterns of the site file).
create temp table way_start as
select target, netdev, 'the ssh session came in by it' as why from ssh_route where netdev <> '' and type <> 'local'
union
select target, zone, 'the ssh session came in by it' from ssh_session where zone <> ''
union
select a.target, a.netdev, 'the ssh session came to its address'
from ssh_session as s
inner join address as a on a.target = s.target and a.address = s.server
union
-- A route with several next hops: the kernel names one of them.
select s.target, r.netdev, 'packets to the ssh client leave by it'
from ssh_session as s
inner join ssh_route as k on k.target = s.target and k.type <> 'local' and k.routing_table = 'main'
inner join routed as r on r.target = s.target and r.address = s.client
where r.netdev <> '' and r.netdev in (select q.netdev from route as q where q.target = r.target and q.gateway <> '' and q.routing_table = 'main')
union
select target, netdev, 'a default route leaves by it'
from route
where
    destination = 'default' and netdev <> ''
    -- Ports of a fabric have tables of their own; where the way back is known, only the main one is another way.
    and (routing_table = 'main' or target not in (select target from ssh_route))
union
select target, netdev, 'it carries management' from netdev_role where role = 'management'
union
select target, netdev, 'it carries management' from port_scope where role = 'management' and netdev <> ''
union
select target, netdev, 'the hosts were read from there' from address where address in (select client from ssh_session)
union
-- The address of the node in its cluster is not collected; what the network of the cluster has routed is.
select r.target, r.netdev, 'routes of the cluster leave by it'
from route as r
where
    r.protocol in ('bird', 'bgp', 'zebra') and r.gateway <> '' and r.netdev <> '' and r.routing_table = 'main'
    and r.target in (select target from kubernetes_node union all select target from job_daemon where unit = 'kubelet.service');

-- Nothing lies below a loopback, a tunnel or the port of an Open vSwitch that has an address: what comes to it is routed.
create temp table way_afloat as
select distinct w.target, w.netdev, w.why
from way_start as w
inner join netdev as n on n.target = w.target and n.name = w.netdev and n.kind = 'virtual'
anti join netdev_stack as s on s.target = w.target and s.netdev = w.netdev -- null: names are never NULL
anti join bond_member as b on b.target = w.target and b.bond = w.netdev; -- null: likewise

create temp table way_under as
select a.target, r.netdev, a.why || ' (' || a.netdev || '), and that is routed over it' as why
from way_afloat as a
inner join route as r on r.target = a.target and r.gateway <> '' and r.netdev <> '' and r.netdev <> a.netdev
left join ssh_route as k on k.target = a.target
where r.routing_table = 'main' or r.routing_table = k.routing_table
union
select a.target, n.name, a.why || ' (' || a.netdev || '), and Open vSwitch has it'
from way_afloat as a
inner join netdev as n on n.target = a.target and n.master = 'ovs-system';

create temp table kept as
with starts as (
    select target, netdev, why, 'way' as what from way_start
    union
    select target, netdev, why, 'way' from way_under
    union
    select m.target, r.netdev, storage_words(m.mount_point, m.file_system, m.server), 'storage'
    from mount as m
    inner join routed as r on r.target = m.target and r.address = m.server
    where m.rests_on = 'network' and r.netdev <> ''
    union
    select n.target, n.name, 'the site file says never to touch it', 'never'
    from netdev as n
    inner join never as v on n.name glob v.pattern
),

-- An address may lie on a member, by mistake or for a moment.
masters as (
    select s.target, n.master as netdev, s.why, s.what
    from starts as s
    inner join netdev as n on n.target = s.target and n.name = s.netdev and n.master not in ('', 'ovs-system')
    where s.what <> 'never'
),

over as (
    from starts
    union
    from masters
),

below as (
    from over
    union
    select o.target, s.below, o.why, o.what
    from over as o
    inner join netdev_stack as s on s.target = o.target and s.netdev = o.netdev
    union
    select o.target, b.member, o.why, o.what
    from over as o
    inner join bond_member as b on b.target = o.target and b.bond = o.netdev
),

-- A bond of a device that lies on another one.
deeper as (
    from below
    union
    select o.target, s.below, o.why, o.what
    from below as o
    inner join netdev_stack as s on s.target = o.target and s.netdev = o.netdev
)

select target, netdev, what, min(why) as why
from (
    from deeper
    union
    -- A virtual function is as its parent's link is; what shares a function (sub-functions, representors) shares its port.
    select d.target, n.name, d.why, d.what
    from deeper as d
    inner join netdev as o on o.target = d.target and o.name = d.netdev and o.pci <> ''
    left join pci_function as f on f.target = o.target and f.pci = o.pci
    inner join netdev as n on n.target = o.target and n.pci in (o.pci, f.physical_function) and n.kind = 'physical'
)
group by target, netdev, what;

-- What the site file gives up, by name, where it declares a second way in. Storage has no second way.
create temp table kept_way as
select k.*
from kept as k
left join second_way as s on s.target = k.target and list_contains(s.netdevs, k.netdev)
where s.target is null or k.what <> 'way';
