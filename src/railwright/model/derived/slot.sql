-- Where a card sits does not change when the card dies; its bus number, its RDMA device's and its network device's names may.
-- Of cards, of what looks like one, and of ports with nothing below.
with recursive bridge as (
    select target, pci, parent, root_bus, read_at from pci_function where class like '0604%'
),

found as (
    select
        f.target,
        f.read_at,
        f.pci,
        f.parent,
        f.root_bus,
        c.kind,
        c.vendor || ':' || c.device_id as part,
        f.link_width,
        f.link_width is null and f.link_width_max is null and f.link_speed_gts is null and f.link_speed_max_gts is null
            as is_unlinked
    from card_function as c
    inner join pci_function as f on f.target = c.target and f.pci = c.pci
    where c.kind in ('nic', 'gpu', 'nvlink bridge', 'data direct', 'switch management', 'recovery', 'placeholder')
),

empty_port as (
    select b.target, b.read_at, b.pci, b.parent, b.root_bus
    from bridge as b
    anti join (select target, parent as pci from pci_function) as below on below.target = b.target and below.pci = b.pci
),

start as (
    select target, pci, parent, root_bus, split_part(regexp_extract(pci, '[^:]+$'), '.', 1) as path from found
    union all
    select target, pci, parent, root_bus, regexp_extract(pci, '[^:]+$') from empty_port
),

up(target, pci, above, path, hops) as (
    select target, pci, parent, path, 0 from start
    union all
    select up.target, up.pci, b.parent, regexp_extract(b.pci, '[^:]+$') || '/' || up.path, up.hops + 1
    from up
    inner join bridge as b on b.target = up.target and b.pci = up.above
    where up.hops < 30 -- a tree that is deeper than any real one is a circle
),

-- The firmware's own name of the root bridge; its bus number where the firmware names none.
root as (
    select
        target,
        root_bus,
        case
            when acpi_path <> '' then replace(acpi_path, '\_SB_.', '')
            when acpi_uid <> '' then 'UID' || acpi_uid
        end as name
    from pci_root
),

placed as (
    select
        s.target,
        s.pci,
        split_part(s.root_bus, ':', 1) as domain,
        split_part(s.root_bus, ':', 2) as bus,
        r.name as root,
        u.path,
        -- Hyper-V draws the domain of some devices by lot, each time a machine is made: c941, 30c3. Such a device has no
        -- bridge above, and is known by what it is. Servers have domains from 0000 up, Intel VMD from 10000 up.
        case
            when u.hops = 0 and length(s.root_bus) = 7 and s.root_bus >= '1000' then 'any:' || f.part
        end as drawn,
        -- Root port, upstream and downstream port of a switch, and what is below: four at least.
        case when u.hops >= 3 then list_aggregate(string_split(u.path, '/')[1:2], 'string_agg', '/') else '' end as switch_path
    from start as s
    left join up as u on u.target = s.target and u.pci = s.pci and u.above = ''
    left join root as r on r.target = s.target and r.root_bus = s.root_bus
    left join found as f on f.target = s.target and f.pci = s.pci
),

named as (
    select
        target,
        pci,
        coalesce(drawn, domain || ':' || coalesce(root, bus) || '/' || path) as slot, -- null: not drawn, not named
        coalesce(drawn, domain || ':' || bus || '/' || path) as slot_by_bus, -- null: not drawn
        case when root is null then 'bus' else 'acpi' end as root_named_by,
        case
            when switch_path = '' then ''
            else domain || ':' || coalesce(root, bus) || '/' || switch_path -- null: the same
        end as switch_slot
    from placed
),

shows_links as (
    select distinct target from pci_function where link_width > 0
),

-- Whoever made a device of a function has talked to it.
in_use as (
    select target, pci from rdma_device where pci <> ''
    union
    select target, pci from netdev where pci <> ''
    union
    select target, pci from gpu_smi
),

config as (
    select target, pci, responds from pci_config where responds is not null
)

select
    n.target,
    coalesce(f.read_at, e.read_at) as read_at, -- null: one of them, always
    n.pci,
    n.slot,
    n.slot_by_bus,
    n.root_named_by,
    n.switch_slot,
    case
        when f.pci is null then 'port'
        else f.kind
    end as kind,
    case when f.pci is null then '' else f.part end as part,
    case
        when f.pci is null then 'empty'
        when c.responds is false then 'dead'
        -- Vendor and device are the kernel's memory; the link is asked of the function itself, and all ones are not a link.
        when c.responds is null and f.is_unlinked and l.target is not null then 'dead'
        when f.kind = 'placeholder' then 'empty'
        when c.responds or f.link_width > 0 or u.pci is not null then 'alive'
    end as state
from named as n
left join found as f on f.target = n.target and f.pci = n.pci
left join empty_port as e on e.target = n.target and e.pci = n.pci
left join shows_links as l on l.target = n.target
left join in_use as u on u.target = n.target and u.pci = n.pci
left join config as c on c.target = n.target and c.pci = n.pci
