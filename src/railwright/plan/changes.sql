-- What a setting's SELECT says, with how its subject is written and what can be used on the machine.
select
    {subject} as subject,
    coalesce(p.answered, []) as answered, -- null: no probe answered there
    coalesce(w.system, '') as system, -- null: no switch
    s.*
from ({rows}) as s
left join (
    select target as machine, list(distinct probe) as answered
    from probe_result
    where status = 'ok'
    group by target
) as p on p.machine = s.target
left join (select target as machine, max(system) as system from switch group by target) as w on w.machine = s.target
order by all
