-- Machines at which exactly the same changed: one stands for all of them.
create temp table changed_alike as
with signs as (
    select target, count(*) as things, bit_xor(hash(thing, pci, device, netdev, class, vendor, parent, physical_function, machine)) as names
    from thing
    group by target
),

marks as (
    select target, count(*) as changes, bit_xor(hash(fact_table, probe, thing, other, what, number, col, kind, old, new)) as said
    from change
    group by target
)

select min(target) as example, list(target order by target) as targets
from marks
inner join signs using (target)
group by changes, said, things, names
