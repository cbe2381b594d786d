-- The machines of both snapshots, or those that are asked for.
create temp table asked as
select target
from (select target from before.target union select target from now.target)
where $only is null or list_contains($only::varchar[], target)
