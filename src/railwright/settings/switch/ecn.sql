-- The queue of RoCE data. Thresholds are never made up: a port gets what all others of the switch have on that queue.
with queues as (
    select
        target,
        port,
        queue,
        max(wred_profile) as profile,
        max(ecn_enabled) as marks,
        max(ecn_minimum_bytes) as least,
        max(ecn_maximum_bytes) as most
    from switch_queue
    where port <> ''
    group by target, port, queue
),

marking as (
    select
        target,
        queue,
        case when count(distinct profile) = 1 and count(profile) = count(*) then max(profile) end as profile,
        case when count(distinct least || '-' || most) = 1 and count(least || '-' || most) = count(*) then max(least) end as least,
        max(most) as most
    from queues
    where marks
    group by target, queue
),

ends as (
    select
        e.*,
        w.system,
        case when s.ecn then 'on' end as wanted,
        c.queue,
        c.ecn_enabled,
        c.red_enabled,
        o.profile as own_profile,
        case when o.profile <> '' then o.profile else m.profile end as profile,
        m.least,
        m.most
    from end_scope as e
    cross join site as s
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.data_priority
    left join queues as o on o.target = e.target and o.port = e.port and o.queue = c.queue
    left join marking as m on m.target = e.target and m.queue = c.queue
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
)

select
    e.target,
    e.port,
    case
        when e.ecn_enabled and (e.system <> 'sonic' or e.red_enabled) then 'on'
        when e.ecn_enabled and not e.red_enabled then 'not enabled'
        when not e.ecn_enabled and e.red_enabled then 'drops'
        when not e.ecn_enabled then 'off'
    end as now,
    e.wanted,
    case
        when e.system = 'eos' and not e.ecn_enabled then 'nothing tells its thresholds: set random-detect ecn by hand'
        when e.system = 'sonic' and e.own_profile is not null and e.profile is null then 'the other ports do not tell which marking profile to bind'
        when e.system in ('cumulus', 'onyx') and not e.ecn_enabled and e.red_enabled then 'the queue drops early: set its mode by hand'
        when e.system = 'onyx' and not e.ecn_enabled and e.least is null then 'the other ports do not tell its thresholds'
        when e.role in ('compute', 'fabric') and e.queue is not null
            and (e.system <> 'sonic' or (e.own_profile is not null and p.ecn is not null and p.green is not null)) then ''
    end as refused,
    e.queue,
    e.profile,
    e.own_profile = '' as is_unbound,
    case when p.ecn = '' then 'none' else p.ecn end as was_ecn,
    case when p.green then 'true' when not p.green then 'false' end as was_green,
    e.least,
    e.most
from ends as e
left join (select target, profile, max(ecn) as ecn, max(green_enabled) as green from switch_wred group by target, profile) as p
    on p.target = e.target and p.profile = e.profile
