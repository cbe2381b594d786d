-- The queue of CNPs: strict, where most ports of its kind have it so.
with strict as (
    select target, min(name) as name from switch_scheduler where type = 'strict' and maximum_rate_bytes is null group by target
),

alike as (
    select target, type, weight, min(name) as name from switch_scheduler group by target, type, weight having count(distinct name) = 1
),

ends as (
    select e.*, w.system, c.queue, c.scheduler, c.weight, c.scheduler = 'strict' as is_strict
    from end_scope as e
    cross join site as s
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.cnp_priority
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
),

usual as (
    select cohort, usual_of(is_strict) as is_strict from ends group by cohort
)

select
    e.target,
    e.port,
    case when e.scheduler = '' then 'none' else e.scheduler end as now,
    case when e.is_strict or u.is_strict then 'strict' end as wanted,
    case
        when (e.pfc_mask >> e.queue) & 1 = 1 or e.queue = e.data_queue then 'the queue is not one of CNPs alone: set switch.cnp_queue first'
        when e.system = 'sonic' and t.name is null and not e.is_strict then 'the switch has no scheduler of type STRICT to bind'
        when e.system = 'sonic' and e.scheduler <> '' and not e.is_strict and a.name is null
            then 'which scheduler it has now is not clear, so it could not be put back'
        when e.system <> 'sonic' and not e.is_strict and (e.scheduler = '' or e.weight = 0) then 'its share was not read, so it could not be put back'
        when e.role in ('compute', 'fabric') and e.queue is not null and (e.system = 'sonic' or e.weight is not null) then ''
    end as refused,
    e.queue,
    t.name as strict_name,
    a.name as own_name,
    e.scheduler = '' as is_unbound,
    e.scheduler <> '' as is_bound,
    e.weight
from (
    select e.*, d.queue as data_queue
    from ends as e
    cross join site as s
    left join port_class as d on d.target = e.target and d.port = e.port and d.class = s.data_priority
) as e
left join usual as u on u.cohort = e.cohort
left join strict as t on t.target = e.target
left join alike as a on a.target = e.target and a.type = e.scheduler and a.weight = e.weight
