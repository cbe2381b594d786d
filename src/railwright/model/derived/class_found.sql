-- Every host with its class and how that was told. Filled in are the GPUs of a model by its key.
create or replace temp table found_class as
-- A host whose cards were not read is of the largest class of its model.
with largest as (
    select key, arg_max(gpu, (members, gpu)) as gpu
    from (select key, gpu, count(*) as members from class_host where key <> '' and gpu is not null group by all)
    group by key
),

told as (
    select
        h.target,
        h.read_at,
        h.lack,
        h.name as own_name,
        coalesce(p.key, h.key) as key,
        coalesce(p.gpu, h.gpu, l.gpu) as gpu,
        coalesce(p.source, case when h.key <> '' then 'dmi' end) as source,
        coalesce(p.first, '') as first,
        h.pattern
    from class_host as h
    left join class_placed as p on p.target = h.target
    left join largest as l on l.key = h.key
),

named as (
    select *, case when key <> '' then min(nullif(own_name, '')) over (partition by key) end as model
    from told
)

select
    target,
    read_at,
    case
        when source is null or gpu is null then null
        when key <> '' then model || ', ' || gpu_words
        else 'layout of ' || first || ', ' || gpu_words
    end as class,
    source,
    case source
        when 'dmi' then 'DMI: ' || model
        when 'layout' then lack || '; its PCIe slots are those of ' || case when key <> '' then model else first end
        else lack || ', and its PCI functions were not read'
    end as reason,
    coalesce(model, '') as model,
    gpu,
    pattern,
    count(*) over (partition by key, gpu, first) as members,
    {board_gpus} as board_gpus
from (select *, case gpu when '' then 'no GPU' else gpu end as gpu_words from named)
