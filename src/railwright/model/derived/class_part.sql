-- What most members of a class have in a slot. Filled in are a relation of target and class, of each count what more than half
-- have, and the members of the smallest class that tells anything.
with member as (
    select target, class from {members} where class is not null
),

size as (
    select class, count(*) as members, min(target) as first
    from member
    group by class
),

found as (
    select m.class, c.*
    from member as m
    inner join card as c on c.target = m.target and c.kind in ('nic', 'gpu')
),

-- One that did not tell how its firmware names root bridges gets its peers' names.
translation as (
    select class, slot_by_bus, min(slot) as slot
    from found
    where root_named_by = 'acpi' and class in (select class from found where root_named_by = 'bus')
    group by all
),

part as (
    select f.* replace (coalesce(t.slot, f.slot) as slot)
    from found as f
    left join translation as t on f.root_named_by = 'bus' and t.class = f.class and t.slot_by_bus = f.slot_by_bus
),

read as (
    select class, count(distinct target) as hosts from found group by class
)

select
    any_value(s.first) as target,
    max(p.read_at) as read_at,
    p.class,
    p.slot,
    p.kind,
    p.part,
    mode(p.slot_by_bus) as slot_by_bus,
    max(p.switch_slot) as switch_slot,
    mode(p.pci) as pci,
    {counted},
    mode(p.psid) as psid,
    any_value(s.members) as members,
    any_value(r.hosts) as read,
    count(*) as votes,
    any_value(s.members) >= {fewest} and 2 * count(*) > any_value(s.members) as is_expected
from part as p
inner join size as s on s.class = p.class
inner join read as r on r.class = p.class
group by p.class, p.slot, p.kind, p.part
