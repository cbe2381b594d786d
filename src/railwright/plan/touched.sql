-- Every change of the plan with what it stops, the devices that stop with it, and the cards. Tables at hand: picked (the changes),
-- setting_guard (what each setting stops), whole_write (ways to write that reach every port of a switch).
create temp table touched as
select distinct
    p.setting,
    p.target,
    p.subject,
    case when t.kind = 'switch' then 'switch' else 'host' end as kind,
    g.stops,
    w.setting is not null or g.stops = 'switch' as is_whole,
    -- Of a host's end the port is its network device.
    case when t.kind = 'switch' then null when p.netdev is not null then p.netdev else p.switch_port end as netdev,
    case when t.kind = 'switch' then p.switch_port end as port,
    p.pci
from picked as p
inner join setting_guard as g on g.setting = p.setting
left join target as t on t.target = p.target
left join whole_write as w on w.setting = p.setting and w.write = p.write
where p.state = 'change';

-- Functions of one card: of one place on the bus, of one firmware (the halves of a Socket Direct card are two places and share it),
-- virtual functions with theirs.
create temp table card_member as
with function as (
    select
        target,
        pci,
        regexp_replace(case when physical_function <> '' then physical_function else pci end, '\.[0-9a-f]+$', '') as slot
    from pci_function
    union
    select target, pci, regexp_replace(pci, '\.[0-9a-f]+$', '') as slot from netdev where pci <> '' and (target, pci) not in (select (target, pci) from pci_function) -- null: pci is never NULL here
),

said as (
    select target, pci, 'image ' || sys_image_guid as sign from rdma_device where regexp_matches(sys_image_guid, '[1-9a-z]')
    union
    select target, pci, 'serial ' || serial_number as sign from devlink_device where serial_number <> ''
    union
    select target, pci, 'card ' || card as sign from port where card <> ''
),

signed as (
    select s.target, s.sign, min(f.slot) as card
    from said as s
    inner join function as f on f.target = s.target and f.pci = s.pci
    group by s.target, s.sign
),

of_slot as (
    select f.target, f.slot, min(g.card) as card
    from function as f
    inner join said as s on s.target = f.target and s.pci = f.pci
    inner join signed as g on g.target = s.target and g.sign = s.sign
    group by f.target, f.slot
),

-- Cards that are PCIe switches are reset together (mstfwreset).
switched as (
    select distinct target from pci_function where vendor = '15b3' and class like '06%'
)

select
    f.target,
    f.pci,
    f.slot,
    case when w.target is not null and p.vendor = '15b3' then 'all' when o.card < f.slot then o.card else f.slot end as card
from function as f
left join of_slot as o on o.target = f.target and o.slot = f.slot
left join switched as w on w.target = f.target
left join pci_function as p on p.target = f.target and p.pci = f.pci;

create temp table touched_card as
select distinct t.setting, t.target, t.subject, c.card
from touched as t
left join netdev as n on n.target = t.target and n.name = t.netdev
inner join card_member as c on c.target = t.target and c.pci = case when t.pci is not null then t.pci else n.pci end
where t.stops = 'card';

-- Network devices of hosts that stop: the device itself, what it lies on, and all of a card.
create temp table touched_netdev as
with own as (
    select setting, target, subject, netdev from touched where netdev <> ''
    union
    select t.setting, t.target, t.subject, n.name
    from touched as t
    inner join netdev as n on n.target = t.target and n.pci = t.pci
    where t.pci <> ''
)

from own
union
select o.setting, o.target, o.subject, s.below
from own as o
inner join netdev_stack as s on s.target = o.target and s.netdev = o.netdev
union
select o.setting, o.target, o.subject, b.member
from own as o
inner join bond_member as b on b.target = o.target and b.bond = o.netdev
union
select c.setting, c.target, c.subject, n.name
from touched_card as c
inner join card_member as m on m.target = c.target and m.card = c.card
inner join netdev as n on n.target = m.target and n.pci = m.pci;
