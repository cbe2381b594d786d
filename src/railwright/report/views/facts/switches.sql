-- Switches that say the same of themselves. Several answers tell about one switch or port: what is in force goes before what is
-- configured.
select w.system, w.model, w.version, p.ports::varchar, p.up::varchar, list(t.target)
from (
    select target
    from target
    where kind = 'switch' and status in ('reached', 'incomplete')
) as t
left join (
    select
        target,
        first(system order by probe like '%config%') as system,
        first(model order by probe like '%config%') filter (model <> '') as model,
        first(version order by probe like '%config%') filter (version is not null) as version
    from switch
    group by target
) as w using (target)
left join (
    select target, count(*) as ports, case when count(up) > 0 then count(*) filter (up) end as up
    from (
        select target, port, first(is_up order by probe like '%config%') filter (is_up is not null) as up
        from switch_port
        group by target, port
    )
    group by target
) as p using (target)
group by all
order by count(*) desc, 1, 2, 3, 4, 5
