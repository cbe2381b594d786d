-- With hardware that chooses frequencies itself, powersave with the energy preference performance is as good.
with governors as (
    select
        target,
        any_known(governor <> 'performance') as is_other,
        count(distinct governor) as kinds,
        case when count(governor) = count(*) then string_agg(distinct governor, ',' order by governor) end as words
    from cpu_governor
    group by target
),

compute as (
    select target, any_known(role = 'compute') as has_compute from port_scope group by target
)

select
    h.target,
    g.words as now,
    case when g.is_other and f.energy_preference in ('performance', '0') then g.words else 'performance' end as wanted,
    case
        when h.virtualization = 'guest' and h.is_grace is not true then 'a guest has no such control'
        when g.kinds > 1 then 'its CPUs have several: ' || g.words
        when c.has_compute and f.driver is not null and f.energy_preference is not null and (h.virtualization is not null or h.is_grace) then ''
    end as refused
from host_scope as h
inner join compute as c on c.target = h.target and c.has_compute is not false
left join cpu_frequency as f on f.target = h.target
left join governors as g on g.target = h.target
where f.driver <> '' or f.driver is null
