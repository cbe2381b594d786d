-- What is not known of the way to a host or to its storage: a fact that is missing counts as one that speaks against a change.
create temp table way_unknown as
with needed as (
    select t.target, n.probe, r.status
    from target as t
    cross join (select unnest(['ip_address', 'ip_route', 'netdev', 'ssh_session']) as probe) as n
    left join probe_result as r on r.target = t.target and r.probe = n.probe
    where t.kind = 'host'
),

missing as (
    select target, probe || case when status is null then ' not collected' else ' ' || status end as what
    from needed
    where coalesce(status, '') not in ('ok', case when probe = 'ssh_session' then 'absent' else 'ok' end) -- null: never asked
    union
    select s.target, 'the route back to the ssh client'
    from ssh_session as s
    left join ssh_route as r on r.target = s.target
    where r.netdev is null or r.netdev = ''
    union
    select r.target, 'the route back to the ssh client'
    from probe_result as r
    left join ssh_route as k on k.target = r.target
    where r.probe = 'ssh_session' and r.status = 'ok' and k.netdev is null
    union
    select s.target, 'which interface has the address that the ssh session came to'
    from ssh_session as s
    left join address as a on a.target = s.target and a.address = s.server
    where a.target is null
    union
    select w.target, 'what ' || w.netdev || ' is, by which it is reached'
    from way_start as w
    left join netdev as n on n.target = w.target and n.name = w.netdev
    where n.target is null
    union
    select a.target, 'what lies below ' || a.netdev || ', by which it is reached'
    from way_afloat as a
    where a.target not in (select target from way_under)
)

select target, 'how the machine is reached is unknown: ' || string_agg(what, ', ' order by what) as why
from missing
group by target;

-- Storage that comes over the network, nobody knows by which device. `everywhere`: it may be any of the host.
create temp table storage_unknown as
with port_role as (
    select target, netdev, role from port_scope where netdev <> ''
    union
    select r.target, r.netdev, r.role
    from netdev_role as r
    anti join port_scope as p on p.target = r.target and p.netdev = r.netdev -- null: names are never NULL
),

told as (
    select m.target, storage_words(m.mount_point, m.file_system, m.server) || ': which interface reaches it is unknown' as why, true as is_remote
    from mount as m
    left join routed as r on r.target = m.target and r.address = m.server and r.netdev <> ''
    where m.rests_on = 'network' and m.transport is distinct from 'fc' and r.target is null -- null: a transport that was not read
    union
    select target, 'what ' || mount_point || ' rests on is unknown' || case when file_system is null then '' else ' (' || file_system || ')' end, false
    from mount
    where rests_on is null and mount_point in ('/', '/usr', '/var', '/etc', '/home', '/root') and file_system is distinct from 'autofs' -- null: unread
    union
    select target, 'some of its mounts were not read', false from mount where told_by = 'unread'
)

select t.target, t.why, null as netdev
from told as t
where t.is_remote and t.target not in (select target from port_role where role = 'storage' or role is null)
union all
select t.target, t.why, p.netdev
from told as t
inner join port_role as p on p.target = t.target and (p.role = 'storage' or p.role is null)
union all
select t.target, 'what its file systems rest on is unknown: mounts ' || case when r.status is null then 'not collected' else r.status end, null
from target as t
left join probe_result as r on r.target = t.target and r.probe = 'mounts'
where t.kind = 'host' and coalesce(r.status, '') <> 'ok'; -- null: never asked
