-- The queue of RoCE data: the one that most ports of its kind have.
with ends as (
    select e.*, w.system, s.data_priority, c.queue, o.map
    from end_scope as e
    cross join site as s
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.data_priority
    left join (select target, port, max(traffic_class_map) as map from switch_port_qos group by target, port) as o
        on o.target = e.target and o.port = e.port
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
),

usual as (
    select cohort, usual_of(queue) as queue from ends group by cohort
)

select
    e.target,
    e.port,
    e.queue as now,
    u.queue as wanted,
    case
        when u.queue not between 0 and 7 then 'most ports of its kind have a queue that is not understood'
        when e.system = 'sonic' and e.map = '' then 'the port has no map from class to queue: bind one by hand'
        when e.role in ('compute', 'fabric') and e.data_priority is not null and (e.system <> 'sonic' or e.map <> '') then ''
    end as refused,
    e.map,
    e.data_priority as class
from ends as e
left join usual as u on u.cohort = e.cohort
