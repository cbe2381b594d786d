-- Machines of which something was read in both.
create temp table compared_target as
select target
from before.target as b
inner join now.target as n using (target)
semi join asked using (target)
where b.status in ('reached', 'incomplete') and n.status in ('reached', 'incomplete')
