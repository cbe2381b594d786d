-- What another card has taken the place of is no longer expected. Filled in is the earlier reference.
insert into known_part by name
from seen_part
union all by name
select r.*
from {before} as r
semi join unseen as u on u.target = r.target
anti join seen_part as s on s.target = r.target and s.slot = r.slot
anti join seen_part as b on b.target = r.target and b.slot_by_bus = r.slot_by_bus
