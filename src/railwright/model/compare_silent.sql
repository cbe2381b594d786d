-- Machines of which nothing was read in either, for the same reason.
select list(target order by target) as targets, coalesce(n.out_of_service <> '', false) as is_excluded
from now.target as n
inner join before.target as b using (target)
semi join asked using (target)
where b.status = n.status and n.status not in ('reached', 'incomplete')
group by is_excluded
order by is_excluded
