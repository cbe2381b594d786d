-- The same change on many things is one: where it is, what finds it, and how it is written.
select
    setting,
    state,
    why,
    now,
    wanted,
    way,
    names,
    list(distinct target order by target) as targets,
    count(distinct subject) as subjects,
    list(distinct rule order by rule) as rules,
    min(rank) as rank
from picked
group by setting, state, why, now, wanted, way, names
order by setting, rank, now, wanted, names::varchar
