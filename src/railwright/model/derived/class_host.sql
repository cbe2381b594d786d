-- Every host with its model, its GPU and whether its cards are known. Filled in is class_model.sql.
create or replace temp table class_host as
with answered as (
    select
        target,
        max(read_at) as read_at,
        bool_or(probe = 'pci' and status = 'ok') as pci,
        bool_or(probe = 'dmi' and status = 'absent') as no_dmi
    from probe_result
    where probe in ('pci', 'dmi')
    group by target
),

gpus as (
    select target, arg_max(part, (n, part)) as gpu
    from (select target, part, count(*) as n from card where kind = 'gpu' group by all)
    group by target
)

select
    t.target,
    a.read_at,
    case
        when d.model = '' or d.model is null then ''
        when starts_with(lower(d.model), lower(d.vendor)) then d.model
        else trim(d.vendor || ' ' || d.model)
    end as name,
    lower(regexp_replace(name, '[ _-]+', '', 'g')) as key,
    case when a.pci then coalesce(g.gpu, '') end as gpu,
    case
        when d.target is null and a.no_dmi then 'it has no DMI'
        when d.target is null or d.model is null then 'its DMI was not read'
        else d.lack
    end as lack,
    regexp_replace(t.target, '[0-9]+', '#', 'g') as pattern
from target as t
left join answered as a on a.target = t.target
left join ({models}) as d on d.target = t.target
left join gpus as g on g.target = t.target
where t.kind = 'host'
