-- Never shorter than configured. Cumulus has one length for all ports: the longest of them.
with planned as (
    select target, port, max(length_m) as length_m from end_plan group by target, port
),

own as (
    select target, port, max(cable_length_m) filter (cable_length_kind = 'configured') as length_m from switch_port group by target, port
),

for_all as (
    select target, max(pfc_cable_length_m) as length_m from switch_port_qos where port = '' group by target
),

boxes as (
    select target, max(system) as system, max(buffer_model) as buffer_model from switch group by target
),

ends as (
    select
        e.*,
        w.system,
        w.buffer_model,
        case when w.system = 'cumulus' then a.length_m else o.length_m end as set_m,
        case when e.cable_length_kind = 'assembly' then e.cable_length_m else p.length_m end as real_m
    from end_scope as e
    left join boxes as w on w.target = e.target
    left join planned as p on p.target = e.target and p.port = e.port
    left join own as o on o.target = e.target and o.port = e.port
    left join for_all as a on a.target = e.target
    where e.kind = 'switch' and (e.role in ('compute', 'storage', 'fabric') or e.role is null)
),

longest as (
    select target, max(real_m) as length_m from ends group by target
),

needs as (
    select e.*, ceil(case when e.system = 'cumulus' then l.length_m else e.real_m end) as needed_m
    from ends as e
    left join longest as l on l.target = e.target
)

select
    target,
    port,
    printf('%.0f', set_m) as now,
    printf('%.0f', case when set_m >= needed_m then set_m else needed_m end) as wanted,
    case
        when system = 'sonic' and buffer_model <> 'dynamic' then 'the buffer model is traditional: headroom comes from pg_profile_lookup.ini'
        when system in ('eos', 'onyx') then 'no command for it is documented'
        when needed_m not between 1 and 2000 then 'a cable of that length is not to be believed'
        when role in ('compute', 'storage', 'fabric') and (system <> 'sonic' or buffer_model is not null) and set_m = round(set_m) then ''
    end as refused
from needs
