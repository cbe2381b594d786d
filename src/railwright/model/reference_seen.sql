-- Cards of hosts that were not seen in a newer snapshot. Filled in are the columns of a card, those of which the most counts
-- that was ever seen, from which snapshot that is, and the two tables.
create or replace temp table seen_part as
select c.target, {snapshot}, c.read_at as seen_at, {same}, {most}
from {card} as c
semi join unseen as u on u.target = c.target
left join {before} as r on r.target = c.target and r.slot = c.slot and r.part = c.part
where c.kind in ('nic', 'gpu')
