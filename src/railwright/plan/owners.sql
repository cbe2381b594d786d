-- Who else sets a value for good, or owns the file that it is written to. Tables at hand: picked, owner_key, owner_call, owner_file and
-- operator (owners.toml), wrote (files and settings of calls as they would be written), declared_owner (of the site file).
create temp table owned as
with asked as (
    select distinct p.setting, p.target, p.subject, p.wanted, p.device, p.pci, w.id,
        case when p.netdev is not null then p.netdev else p.switch_port end as netdev
    from picked as p
    inner join target as t on t.target = p.target and t.kind = 'host'
    inner join written as w
        on w.setting = p.setting and w.write = p.write and w.now is not distinct from p.now -- null: an undo may need no value
        and w.wanted = p.wanted and w.names is not distinct from p.names -- null: a name that was not read
    where p.state = 'change'
),

-- What says of itself whose it is; cloud-init leaves the network alone where it was told to.
marked as (
    select m.target, m.file, min(m.owner) as owner
    from config_owner as m
    where
        m.name = 'marker'
        and not (m.owner = 'cloud-init' and m.target in (select target from config_owner where name = 'network' and value = 'disabled'))
    group by m.target, m.file
),

said as (
    select c.*, case when m.owner is null then c.owner else m.owner end as whose
    from config_owner as c
    left join marked as m on m.target = c.target and m.file = c.file
    where c.file not like '%/90-railwright.%' and c.file not like '%/railwright-%'
),

-- Names and patterns that a file is for. One that fits no device here may be for any: it goes by address or path.
pattern as (
    select *, bool_or(fits) over (partition by target, file, place) as is_known -- null: no device
    from (
        select c.target, c.file, c.place, g.pattern, bool_or(n.name glob g.pattern) as fits -- null: no device
        from said as c
        cross join unnest(string_split(c.netdev, ' ')) as g(pattern)
        left join netdev as n on n.target = c.target
        where c.netdev <> ''
        group by all
    )
),

by_key as (
    select a.setting, a.target, a.subject, c.whose, c.file
    from asked as a
    inner join owner_key as k on a.setting glob k.setting
    inner join said as c on c.target = a.target and c.name = k.key and c.value is distinct from a.wanted -- null: a value cut away
    left join pattern as g on g.target = c.target and g.file = c.file and g.place = c.place
    where g.pattern is null or a.netdev is null or a.netdev glob g.pattern or g.is_known is not true or starts_with(g.pattern, '!')
),

word as (
    select c.target, c.file, c.place, c.name, c.whose, w.word
    from said as c
    inner join (select distinct tool from owner_call) as o on o.tool = c.name
    cross join unnest(string_split(c.value, ' ')) as w(word)
),

-- Which devices a call is for; one that names none is for any.
meant as (
    select w.target, w.file, w.place, list(distinct w.word) as devices
    from word as w
    inner join (
        select target, name as device from netdev
        union select target, pci from netdev
        union select target, device from rdma_device
    ) as d on d.target = w.target and d.device = w.word and d.device <> ''
    group by all
),

by_call as (
    select distinct a.setting, a.target, a.subject, w.whose, w.file
    from asked as a
    inner join owner_call as k on a.setting glob k.setting
    inner join word as w on w.target = a.target and w.name = k.tool and starts_with(w.word, k.word)
    left join meant as m on m.target = w.target and m.file = w.file and m.place = w.place
    -- A call that does what the plan would do is in nobody's way.
    left join wrote as s on s.id = a.id and s.tool = w.name
    left join said as c on c.target = w.target and c.file = w.file and c.place = w.place
    where
        (m.devices is null or a.netdev is null and a.pci is null or list_contains(m.devices, a.netdev) or list_contains(m.devices, a.pci)
            or list_contains(m.devices, a.device))
        and (s.id is null or not (' ' || c.value || ' ' like '% ' || w.word || ' ' || s.value || ' %' or w.word = w.word || '=' || s.value))
),

by_file as (
    select a.setting, a.target, a.subject, m.owner as whose, m.file
    from asked as a
    inner join wrote as w on w.id = a.id and w.file <> ''
    inner join marked as m on m.target = a.target and m.file = w.file
    union
    select a.setting, a.target, a.subject, m.owner, m.file
    from asked as a
    inner join owner_file as f on a.setting glob f.setting
    inner join marked as m on m.target = a.target and m.file glob f.file
    where m.file not like '%railwright%'
),

by_operator as (
    select a.setting, a.target, a.subject, o.name as whose, '' as file
    from asked as a
    inner join operator as o on a.setting glob o.setting
    inner join kubernetes_label as l on l.target = a.target and starts_with(l.name, o.label) and (o.value = '' or l.value = o.value)
),

by_site as (
    select p.setting, p.target, p.subject, d.name as whose, '' as file
    from picked as p
    inner join declared_owner as d on d.target = p.target and p.setting glob d.setting
    where p.state = 'change'
)

select setting, target, subject, min(whose) as owner,
    arg_min(whose || case when file = '' then '' else ' (' || file || ')' end, whose) || ' owns it: change it there' as why
from (
    from by_site
    union from by_operator
    union from by_file
    union from by_key
    union from by_call
)
where whose is not null
group by setting, target, subject;

-- Files that nobody read may have an owner too.
create temp table owner_unknown as
select distinct p.setting, p.target, p.subject, u.why
from picked as p
inner join (
    select setting, 'key' as kind from owner_key
    union select setting, 'call' from owner_call
) as s on p.setting glob s.setting
inner join (
    select t.target, 'any' as kind, 'who else sets it is unknown: config_owners ' || case when r.status is null then 'not collected' else r.status end as why
    from target as t
    left join probe_result as r on r.target = t.target and r.probe = 'config_owners'
    where t.kind = 'host' and coalesce(r.status, '') not in ('ok', 'absent') -- null: never asked
    union all
    select target,
        case when owner in ('unit', 'udev', 'script') then 'call' when owner is not null and owner <> 'ifupdown' then 'key' else 'any' end,
        'who else sets it is unknown: ' || file || ' was not read'
    from config_owner
    where name = '' and owner is not null
) as u on u.target = p.target and u.kind in (s.kind, 'any')
where p.state = 'change';
