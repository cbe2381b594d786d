-- What is in the plan, by machine; `$numbers` are the rows of `grouped` that are.
create temp table planned as
select unnest(targets) as target, setting, names::varchar as names, restart, card
from grouped
where list_contains($numbers, number)
