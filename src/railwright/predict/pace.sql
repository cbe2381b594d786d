-- The pace of a job over all hosts: a collective is as slow as its slowest compute port. Tables at hand: port_ceiling,
-- host_ceiling, host_class, target. What is not known of a host can only make it slower.

create or replace temp table pace_port as
select
    target,
    target || ':' || device || '/' || port as name,
    -- A port that is not up carries nothing: that is known.
    case when state = 'ACTIVE' then write_gbps when state <> '' then 0 end as gbps,
    case
        when state <> 'ACTIVE' and state <> '' then 'port ' || state
        when binding = 'PCIe' then 'PCIe'
        when binding = 'port' then format('{:g}G, RDMA MTU {}', rate_gbps, mtu)
    end as limited_by
from port_ceiling
where role = 'compute';

-- How many compute ports hosts of a class have: a host that has lost one is as slow as its missing port.
create or replace temp table pace_usual as
with counted as (
    select c.class, t.target, count(p.name) as ports
    from target as t
    inner join host_class as c on c.target = t.target
    left join pace_port as p on p.target = t.target
    where t.kind = 'host' and t.status in ('reached', 'incomplete') and c.class is not null
    group by c.class, t.target
),

voted as (
    select class, ports, count(*) as votes
    from counted
    group by class, ports
)

select v.class, v.ports
from voted as v
inner join (select class, count(*) as members from counted group by class) as m on m.class = v.class
where m.members >= 4 and 2 * v.votes > m.members;

create or replace temp table host_pace as
with slowest as (
    select
        target,
        count(*) as ports,
        count(*) filter (gbps is null) as unknown,
        min(gbps) as gbps,
        arg_min(name, (gbps, name)) as name,
        arg_min(limited_by, (gbps, name)) as limited_by
    from pace_port
    group by target
)

select
    t.target,
    case when s.ports < u.ports then 0 else s.gbps end as gbps,
    case when s.ports < u.ports then t.target else s.name end as slowest,
    case when s.ports < u.ports then s.ports || ' of ' || u.ports || ' compute ports' else s.limited_by end as limited_by,
    s.gbps is null or s.unknown > 0 or h.write_gbps is null as is_open
from target as t
left join host_class as c on c.target = t.target
left join pace_usual as u on u.class = c.class
left join host_ceiling as h on h.target = t.target
left join (
    from slowest
    union all by name
    -- One whose ports are all gone, in a class that has some.
    select t.target, 0 as ports, 0 as unknown
    from target as t
    anti join slowest as s on s.target = t.target
    where t.status in ('reached', 'incomplete')
) as s on s.target = t.target
where
    t.kind = 'host' and t.out_of_service = ''
    -- Known to have no compute port, as its like have none: no part of a job.
    and coalesce(s.ports > 0 or h.ports <> 0 or coalesce(u.ports, 0) > 0, true);

-- What is left when the slowest hosts are taken out, one row for each pace.
create or replace temp table pace_step as
with paces as (
    select
        round(gbps, 1) as gbps,
        count(*)::bigint as hosts,
        min(slowest) as slowest,
        arg_min(limited_by, slowest) as limited_by,
        list_sort(list(target)) as targets
    from host_pace
    where gbps is not null
    group by round(gbps, 1)
)

select
    (coalesce(sum(hosts) over (order by gbps rows between unbounded preceding and 1 preceding), 0))::bigint as without,
    *
from paces
order by gbps;
