-- What rules are about, made once and read by many: physical functions and their ports with what every
-- guard asks for. Rows of what was not read are NULL, hence unknown.

-- A machine: whether it is a guest, hands devices through to guests, or neither.
create or replace {kind} host_scope as
select
    t.target,
    t.status,
    c.architecture,
    case
        when c.hypervisor <> '' then 'guest'
        when f.hands_through then 'hypervisor'
        -- lscpu tells no hypervisor of an ARM machine; guests are given devices and never Grace's own root ports.
        when (c.hypervisor = '' or f.is_grace) and not f.hands_through then 'bare metal'
    end as virtualization,
    f.is_grace,
    r.netns_mode,
    k.kind,
    k.gpus,
    k.nvidia_gpus,
    -- NULL: which class it is in was not read, or nobody has confirmed it.
    case when n.target is null then false when n.unconfirmed then null when n.class is not null then true end as has_class,
    case when n.unconfirmed then null else n.class end as class,
    n.compute_nics,
    n.port_rate_gbps,
    n.numa_nodes
from target as t
left join cpu as c on c.target = t.target
left join rdma_system as r on r.target = t.target
left join host_kind as k on k.target = t.target
left join node_class as n on n.target = t.target
left join (
    select
        target,
        any_known(driver = 'vfio-pci' and class like '03%')
        or (
            any_known(driver = 'vfio-pci' and class like '02%')
            -- A host that uses its GPUs itself has given a NIC to a program (DPDK), not to a guest.
            and not any_known(class like '03%' and vendor in ('10de', '1002') and driver not in ('vfio-pci', ''))
        ) as hands_through,
        -- Root ports of Grace and Vera (review G-PLATFORM).
        any_known(vendor = '10de' and device in ('22b1', '22b2', '22b8', '2f95', '2f96')) as is_grace
    from pci_function
    group by target
) as f on f.target = t.target
where t.kind = 'host';

-- A port of a physical function, with the role that the site gives it or that was inferred (site_port).
create or replace {kind} port_scope as
select
    p.target,
    p.device,
    p.port,
    p.pci,
    p.card,
    p.netdev,
    p.link_layer,
    p.state,
    p.rate_gbps,
    p.rate_dispute,
    p.role,
    p.inferred,
    p.role_dispute,
    p.rail,
    p.plane,
    p.gpu_relation,
    p.nearest_gpus,
    p.cohort,
    f.vendor,
    f.device as device_id,
    f.numa_node,
    f.vf_count,
    h.architecture,
    h.virtualization,
    h.netns_mode
from site_port as p
left join pci_function as f on f.target = p.target and f.pci = p.pci
left join host_scope as h on h.target = p.target;

-- A physical network function, whether it has an RDMA device or not. Its role is that of its ports.
create or replace {kind} nic_scope as
select
    e.target,
    e.pci,
    f.vendor,
    f.device as device_id,
    f.class,
    f.driver,
    f.vf_count,
    p.device,
    p.role,
    coalesce(p.inferred, true) as inferred,
    p.link_layer,
    p.port_count,
    h.architecture,
    h.virtualization,
    h.is_grace,
    h.netns_mode
from pcie_endpoint as e
left join pci_function as f on f.target = e.target and f.pci = e.pci
left join host_scope as h on h.target = e.target
left join (
    select
        target,
        pci,
        min(device) as device,
        count(*) as port_count,
        case
            when any_known(role = 'compute') then 'compute'
            when any_known(role = 'storage') then 'storage'
            when any_known(role = 'management') then 'management'
            when all_known(role = 'unused') then 'unused'
        end as role,
        bool_or(inferred) as inferred,
        min(link_layer) as link_layer
    from port_scope
    group by target, pci
) as p on p.target = e.target and p.pci = e.pci
where e.kind = 'nic';

-- An end of a link. What a switch's port is for is told by who is behind it: compute and storage are the role of the
-- host's port, and there the site's word counts before the inferred one. Classes are those that the site's codepoints get.
create or replace {kind} end_scope as
select
    e.target,
    e.port,
    e.kind,
    e.device,
    case
        when d.role is not null then d.role
        when e.kind = 'switch' and e.role = 'host' then o.role
        else e.role
    end as role,
    d.role is null and (e.kind = 'host' or e.role = 'host') as inferred,
    e.tier,
    e.facing,
    e.peer,
    e.peer_port,
    e.peer_kind,
    e.trouble,
    e.is_up,
    e.speed_mbps,
    e.speed_asked_mbps,
    e.lanes,
    e.fec,
    e.fec_asked,
    e.autonegotiation,
    e.mtu,
    e.trust,
    e.pfc_mask,
    e.pause_rx,
    e.pause_tx,
    e.cable_length_m,
    e.cable_length_kind,
    e.watchdog_mask,
    -- By the site's word for the port, where there is one.
    case
        when e.kind = 'host' and d.role is not null
            then 'host ' || d.role || ', tier ' || e.tier || ' ' || e.facing || ', ' || (e.speed_mbps // 1000) || 'G'
        else e.cohort
    end as cohort,
    e.dscp_classes,
    class_of(e.dscp_classes, s.data_dscp) as data_class,
    class_of(e.dscp_classes, s.cnp_dscp) as cnp_class,
    class_of(e.dscp_classes, s.storage_dscp) as storage_class,
    -- Where no switch was read, nobody can be compared with one.
    w.has_switches
from link_end as e
cross join site as s
cross join (select count(*) > 0 as has_switches from target where kind = 'switch') as w
left join link_end as o on o.target = e.peer and o.port = e.peer_port and e.kind = 'switch' and e.role = 'host'
left join declared_role as d
    on d.target = case when e.kind = 'host' then e.target else o.target end
    and d.device = case when e.kind = 'host' then e.device else o.device end
    and d.port = case when e.kind = 'host' then e.device_port else o.device_port end
union all by name
-- A switch without a port, or a host that did not answer, has ends that nobody knows: they never vanish.
select t.target, '*' as port, t.kind, w.has_switches
from target as t
cross join (select count(*) > 0 as has_switches from target where kind = 'switch') as w
where
    (t.kind = 'switch' or t.status not in ('reached', 'incomplete'))
    and t.target not in (select target from link_end);

-- Which reference a host's inventory is held to: the slots that the site file gives its class; else what most of its class
-- have (the site's class, or the one that the machine tells), and what was seen in it before.
create or replace {kind} inventory_scope as
select
    h.target,
    case
        when n.has_slots then 'site'
        when n.class is not null then 'site class'
        else 'class'
    end as held_to,
    case when n.class is not null then n.class else c.class end as class,
    n.unconfirmed,
    c.class as own_class,
    c.reason as class_reason,
    -- A guest may show its host's DMI, and has the GPUs that it was given.
    case when h.virtualization <> 'guest' then c.board_gpus end as board_gpus,
    r.is_read,
    r.is_named
from host_scope as h
left join node_class as n on n.target = h.target
left join host_class as c on c.target = h.target
left join (
    select
        target,
        bool_or(status = 'ok') filter (probe = 'pci') as is_read,
        -- Whether its slots have the firmware's names, or it is known to give none.
        bool_or(status in ('ok', 'absent')) filter (probe = 'pci_root') as is_named
    from probe_result
    where probe in ('pci', 'pci_root')
    group by target
) as r on r.target = h.target
union all
-- The site has it, and the snapshot does not: nobody asked.
select
    n.target, 'nobody' as held_to, n.class, n.unconfirmed, null as own_class, null as class_reason, null as board_gpus, null as is_read,
    null as is_named
from node_class as n
anti join target as t on t.target = n.target
where n.class is not null;

-- A card that is expected in a slot, or that others of its class have there, and what is there.
create or replace {kind} part_scope as
with class_part as (
    select 'site class' as held_to, * from site_part
    union all by name
    select 'class' as held_to, * from expected_part
),

-- Expected by the site, or by most of the class.
firm as materialized (
    select i.target, w.slot, case when b.slot is null then w.slot else b.slot_by_bus end as slot_by_bus,
        b.slot is null and i.is_named is not true as is_untold, case when b.slot is null then '' else b.switch_slot end as switch_slot, w.kind, w.part,
        case when b.slot is null then '' else b.pci end as pci, w.functions, w.rdma_devices,
        w.netdevs, w.links, 'site' as source, null::integer as members, null::integer as votes
    from inventory_scope as i
    inner join wanted_part as w on w.class = i.class
    -- The site file has one name for a slot; its peers tell the other.
    left join (
        select class, slot, max(slot_by_bus) as slot_by_bus, max(switch_slot) as switch_slot, max(pci) as pci
        from expected_part
        group by class, slot
    ) as b on b.class = i.own_class and b.slot = w.slot
    where i.held_to = 'site'
    union all by name
    select i.target, p.slot, p.slot_by_bus, p.switch_slot, p.kind, p.part, p.pci, p.functions, p.rdma_devices, p.netdevs, p.links,
        'class' as source, p.members, p.votes
    from inventory_scope as i
    inner join class_part as p on p.class = i.class and p.held_to = i.held_to
    where p.is_expected
),

wanted as (
    select * from firm
    union all by name
    -- Seen before, where neither speaks of that slot.
    select r.target, r.slot, r.slot_by_bus, r.switch_slot, r.kind, r.part, r.pci, r.functions, r.rdma_devices, r.netdevs, r.links,
        'earlier' as source, r.snapshot
    from reference as r
    inner join inventory_scope as i on i.target = r.target and i.held_to <> 'site'
    anti join firm as f on f.target = r.target and f.slot = r.slot
    anti join firm as b on b.target = r.target and b.slot_by_bus = r.slot_by_bus
),

-- What some of a class have, and not most. Where most are known to be without it, that is how the class is.
split as (
    select
        held_to,
        class,
        slot,
        slot_by_bus,
        switch_slot,
        kind,
        part,
        pci,
        members,
        votes,
        members >= 4 and 2 * (read - votes) > members as is_rare
    from class_part
    where not is_expected
),

split_host as (
    select i.target, s.* exclude (class, held_to), i.held_to || ' ' || i.class as class
    from inventory_scope as i
    inner join split as s on s.class = i.class and s.held_to = i.held_to
    left join card as c
        on c.target = i.target and c.part = s.part and (c.slot = s.slot or c.slot_by_bus = s.slot_by_bus)
    where i.is_read and c.target is null
),

-- All that the hosts of such a class have. At most so many builds are compared: a class that has more is told as split.
host_build as (
    select c.target, i.held_to || ' ' || i.class as class, list_sort(list(c.slot || ' ' || c.part)) as parts
    from inventory_scope as i
    semi join split as s on s.class = i.class and s.held_to = i.held_to
    inner join card as c on c.target = i.target and c.kind in ('nic', 'gpu')
    group by all
),

build as (
    select class, parts
    from (
        select class, parts, row_number() over (partition by class order by count(*) desc, parts) as place
        from host_build
        group by class, parts
    )
    where place <= 50
),

-- Whoever has all that a host has, and this part besides.
fuller as (
    select distinct b.class, b.parts, unnest(o.parts) as part
    from build as b
    inner join build as o on o.class = b.class and len(o.parts) > len(b.parts) and list_has_all(o.parts, b.parts)
),

disputed as (
    select h.* exclude (class, is_rare), f.part is not null as is_less
    from split_host as h
    left join host_build as b on b.target = h.target
    left join fuller as f on f.class = h.class and f.parts = b.parts and f.part = h.slot || ' ' || h.part
    anti join wanted as w on w.target = h.target and w.slot = h.slot
    where f.part is not null or not h.is_rare
),

everything as (
    select *, null::boolean as is_less from wanted
    union all by name
    select *, 'split' as source from disputed
),

-- Nearly all are found by their slot; only what is not is looked for by its bus.
direct as materialized (
    select
        e.*,
        c.part as found_part,
        c.kind as found_kind,
        c.pci as found_pci,
        c.state as found_state,
        c.functions as found_functions,
        c.rdma_devices as found_rdma_devices,
        c.netdevs as found_netdevs,
        c.links as found_links,
        c.is_given_away,
        c.is_driverless
    from everything as e
    left join card as c on c.target = e.target and c.slot = e.slot
),

found as (
    select * from direct where found_part is not null
    union all by name
    select
        d.* exclude (found_part, found_kind, found_pci, found_state, found_functions, found_rdma_devices, found_netdevs, found_links,
            is_given_away, is_driverless),
        b.part as found_part,
        b.kind as found_kind,
        b.pci as found_pci,
        b.state as found_state,
        b.functions as found_functions,
        b.rdma_devices as found_rdma_devices,
        b.netdevs as found_netdevs,
        b.links as found_links,
        b.is_given_away,
        b.is_driverless
    from direct as d
    left join card as b on b.target = d.target and b.slot_by_bus = d.slot_by_bus
    where d.found_part is null
),

-- Of what is missing: its port, which may still be there, and whatever else hangs on the same switch.
-- By either name: one that did not tell its firmware's names, or has others since an update, has its buses.
port_left as (
    select distinct d.target, d.slot
    from direct as d
    inner join slot as p on p.target = d.target and p.kind = 'port'
        and (p.slot = regexp_replace(d.slot, '/[^/]*$', '') or p.slot_by_bus = regexp_replace(d.slot_by_bus, '/[^/]*$', ''))
    where d.found_part is null
),

switch_left as (
    select distinct d.target, d.switch_slot
    from direct as d
    inner join slot as p on p.target = d.target and p.switch_slot <> ''
        and (
            p.switch_slot = d.switch_slot
            or string_split(p.slot_by_bus, '/')[:len(string_split(p.switch_slot, '/'))]
                = string_split(d.slot_by_bus, '/')[:len(string_split(d.switch_slot, '/'))]
        )
    where d.found_part is null and d.switch_slot <> ''
),

-- Root bridges all have other names than the site file knows, or firmware gives none and their buses moved: the same parts, at
-- least as many, sit in the same places below bridges that nobody expects.
known_root as (
    select distinct e.target
    from everything as e
    inner join card as c on c.target = e.target and split_part(c.slot, '/', 1) = split_part(e.slot, '/', 1)
    where e.source = 'site'
),

strange as (
    select c.target, c.kind, c.part, regexp_replace(c.slot, '^[^/]*', '') as place, count(*) as cards
    from card as c
    semi join found as f on f.target = c.target and f.found_part is null
    anti join everything as e on e.target = c.target and e.slot = c.slot
    anti join everything as b on b.target = c.target and b.slot_by_bus = c.slot_by_bus
    left join known_root as k on k.target = c.target
    left join inventory_scope as i on i.target = c.target
    where case when i.held_to = 'site' then k.target is null else c.root_named_by = 'bus' end
    group by all
),

unfound as (
    select target, kind, part, regexp_replace(slot, '^[^/]*', '') as place, count(*) as cards
    from found
    where found_part is null
    group by all
),

renamed as (
    select distinct u.target, u.kind, u.part, u.place
    from unfound as u
    inner join strange as s
        on s.target = u.target and s.kind = u.kind and s.place = u.place and s.cards >= u.cards
        and list_contains(string_split(u.part, '|'), s.part)
)

select
    f.target,
    f.slot,
    f.kind,
    f.part,
    case when f.found_pci is null then f.pci else f.found_pci end as pci,
    f.source,
    f.snapshot,
    f.members,
    f.votes,
    f.is_less,
    case f.source when 'site' then i.unconfirmed is not true when 'class' then i.unconfirmed is not true else true end as is_confirmed,
    f.found_part,
    case
        when i.is_read is not true then null
        when f.found_part is not null and f.found_kind = f.kind
            and (f.part = '' or list_contains(string_split(f.part, '|'), f.found_part)) then f.found_state
        when f.found_kind = 'placeholder' then 'empty'
        when f.found_kind = 'recovery' then 'dead'
        when f.found_part is not null then 'replaced'
        when f.is_untold then null
        when p.slot is not null then 'empty'
        when r.target is not null and w.switch_slot is null then 'renamed'
        when f.switch_slot <> '' and w.switch_slot is null then 'switch gone'
        else 'port gone'
    end as state,
    f.functions as functions_wanted,
    f.found_functions as functions,
    f.rdma_devices as rdma_devices_wanted,
    f.found_rdma_devices as rdma_devices,
    f.netdevs as netdevs_wanted,
    f.found_netdevs as netdevs,
    f.links as links_wanted,
    f.found_links as links,
    f.is_given_away,
    f.is_driverless
from found as f
inner join inventory_scope as i on i.target = f.target
left join port_left as p on f.found_part is null and p.target = f.target and p.slot = f.slot
left join switch_left as w on f.found_part is null and w.target = f.target and w.switch_slot = f.switch_slot
left join renamed as r
    on f.found_part is null and r.target = f.target and r.kind = f.kind and r.part = f.part
    and r.place = regexp_replace(f.slot, '^[^/]*', '');
