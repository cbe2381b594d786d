-- The denominator: machines of a kind by what became of them.
select
    list(target order by target) as everyone,
    count(*) filter (status = 'reached') as reached,
    count(*) filter (status = 'incomplete' and out_of_service = '') as incomplete,
    count(*) filter (status not in ('reached', 'incomplete') and out_of_service = '') as missed,
    count(*) filter (status <> 'reached' and out_of_service <> '') as away
from target
where kind = $kind
