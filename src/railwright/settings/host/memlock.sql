-- The last line of each giver wins: limits.conf before limits.d, a unit before its drop-ins, files sorted by name.
with memory as (
    select target, sum_known(memory_total_mb) * 1048576 as bytes from numa_node group by target
),

lines as (
    select
        l.*,
        l.soft_bytes >= 0 and l.soft_bytes < m.bytes * 0.9 as is_small,
        case when file like '/etc/security/%' then 'sessions' when domain = '*' then 'all units' else domain end as giver,
        row_number() over (partition by l.target, giver, domain order by file like '%.d/%' desc, file desc, place desc) as from_end
    from resource_limit as l
    left join memory as m on m.target = l.target
    where l.item = 'memlock' and l.soft_bytes is not null
),

given as (
    select
        target,
        string_agg(giver || ' ' || value, ', ' order by giver) filter (is_small) as words,
        any_known(is_small) as is_limited,
        count(*) filter (is_small) as limited,
        max(giver) filter (is_small) as giver,
        max(file) filter (is_small) as file
    from lines
    where from_end = 1 and (giver <> 'sessions' or domain = '*')
    group by target
),

open_questions as (
    select
        target,
        count(*) filter (file is null or item is null or domain is null) as unread,
        count(*) filter (item = 'memlock' and domain <> '*' and file like '/etc/security/%') as some_users
    from resource_limit
    group by target
),

daemons as (
    select
        target,
        bool_or(unit in ('containerd.service', 'docker.service', 'kubelet.service')) and not bool_or(unit = 'slurmd.service') as run_containers -- null: each has a name
    from job_daemon
    group by target
),

cards as (select target, any_known(kind = 'nic') as has_one from pcie_endpoint group by target)

select
    h.target,
    case
        when u.unread > 0 then null
        when g.is_limited then g.words
        when not g.is_limited then 'unlimited, or 90 % of memory'
        when g.target is null and a.status is not null then 'not set'
    end as now,
    'unlimited, or 90 % of memory' as wanted,
    case
        when d.run_containers and g.target is null then 'jobs run in containers: the pod decides'
        when g.limited > 1 then 'several files limit it: raise them one by one'
        when g.giver = 'all units' then 'the default of all units is limited: raise it in system.conf'
        when g.file > '/etc/security/limits.d/zz-railwright.conf' and g.giver = 'sessions' then 'a later file has the last word: ' || g.file
        when u.some_users > 0 then 'some users have a limit of their own: look whether they run jobs'
        when c.has_one and a.status is not null then ''
    end as refused,
    case when g.limited > 0 and g.giver <> 'sessions' then 'daemon' else 'sessions' end as way,
    case when g.limited > 0 then g.giver end as unit
from host_scope as h
inner join cards as c on c.target = h.target and c.has_one is not false
left join given as g on g.target = h.target
left join open_questions as u on u.target = h.target
left join daemons as d on d.target = h.target
left join probe_result as a on a.target = h.target and a.probe = 'limits' and a.status = 'ok'
