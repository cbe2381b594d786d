-- Machines that came, went or answered otherwise; those out of service now are expected to.
select
    coalesce(b.status, 'not asked') as old,
    coalesce(n.status, 'not asked') as new,
    list(target order by target) as targets,
    coalesce(n.out_of_service <> '', false) as is_excluded
from before.target as b
full join now.target as n using (target)
semi join asked using (target)
where b.status is distinct from n.status
group by all
order by 1, 2, 4
