-- What was not read, and why. Filled in are every kind of machine with every probe that fills its tables, and the switch system
-- that a probe asks.
with asked as (
    select target, probe, bool_or(status = 'ok') as is_ok
    from probe_result
    group by all
)

select
    r.target,
    max(r.read_at) as read_at,
    r.probe,
    r.status,
    min(r.reason) as reason,
    count(*) as answers,
    not bool_or(a.is_ok) as nothing_read
from (from probe_result where status <> 'ok') as r
inner join asked as a on a.target = r.target and a.probe = r.probe
-- A management port without DCB is no gap where the RDMA ports have answered.
where not (r.status = 'absent' and a.is_ok)
group by r.target, r.probe, r.status
union all
select
    t.target,
    null,
    w.probe,
    case t.status when 'reached' then 'not asked' else 'not reached' end,
    '',
    0,
    true
from target as t
inner join (values {wanted}) as w (kind, probe) on w.kind = t.kind
anti join asked as a on a.target = t.target and a.probe = w.probe
-- A switch has one system, and its probes have that system's name. Of one that never answered nobody knows it.
left join (select target, min({asked_of}) as system from asked group by target) as s on s.target = t.target
where t.kind = 'host' or s.system is null or s.system = {wanted_of}
