-- What one host shows of each RDMA port: where it sits, which says what it is for; and the state that it is in, which does not.
-- port.sql holds the hosts against one another and decides.
with answered as (
    select
        target,
        bool_or(probe = 'pci' and status = 'ok') as pci,
        bool_or(probe = 'ip_address' and status = 'ok') as addresses,
        bool_or(probe = 'ip_route' and status = 'ok') as routes,
        -- Who has the driver's tool has, or had, a GPU.
        bool_or(probe = 'nvidia_smi' and status <> 'absent') as gpu_tool
    from probe_result
    where probe in ('pci', 'ip_address', 'ip_route', 'nvidia_smi')
    group by target
),

-- Two netdevs of one function and port (a representor beside its uplink) leave it open which it is.
of_function as (
    select target, pci, dev_port, case when count(*) = 1 then any_value(name) end as name
    from netdev
    where kind = 'physical' and pci <> '' and port_name not like 'pf%vf%'
    group by all
),

physical as (
    select
        p.target,
        p.read_at,
        p.device,
        p.port,
        d.pci,
        case
            when d.sys_image_guid is not null then min(d.pci) over (partition by p.target, d.sys_image_guid)
        end as card,
        n.name as own_netdev,
        coalesce(nullif(p.netdev, ''), nullif(l.netdev, ''), n.name, p.netdev, l.netdev) as netdev,
        p.link_layer,
        p.state,
        p.rate_gbps as printed_gbps
    from rdma_port as p
    inner join rdma_device as d on d.target = p.target and d.device = p.device
    left join rdma_link as l on l.target = p.target and l.device = p.device and l.port = p.port
    left join of_function as n on n.target = p.target and n.pci = d.pci and n.dev_port = p.port - 1
    left join card_function as f on f.target = p.target and f.pci = d.pci
    where
        coalesce(f.kind, 'nic') = 'nic' -- null: what has no function on PCI (Soft-RoCE) is no virtual one and no bridge
        -- A sub-device for management packets, on the function of a ConnectX-8 of several planes (rdma-dev(8): type SMI).
        and not (p.device like 'smi%' and coalesce(f.vendor, '') = '15b3') -- null: Soft-RoCE may have any name
),

-- The way without the root bus, with the kinds of bridges on it: what slots of one sort have in common.
shapes as (
    select h.target, h.pci, string_agg(right(h.hop, 4) || ' ' || f.vendor || f.device, '/' order by h.place desc) as shape
    from pcie_path as h
    inner join pci_function as f on f.target = h.target and f.pci = h.hop
    where h.place > 0
    group by h.target, h.pci
),

near as (
    select
        target,
        nic,
        min(distance) as distance,
        arg_min(relation, distance) as relation,
        bool_or(common_hop <> '') as is_below_switch, -- null: every pair has one, or ''
        case
            when count(is_nearest) = count(*)
                then coalesce(string_agg(gpu, ',' order by gpu) filter (is_nearest), '') -- null: none nearest
        end as nearest_gpus
    from gpu_nic
    group by all
),

-- Every RDMA card on PCI, also where a pod, a guest or a driver that is not loaded leaves no RDMA device of it here. Type: the
-- PSID of any function of the card, by its driver or its flash; else the ids of chip and board. Chip: one may be on cards of
-- one port or two.
card_type as (
    select
        c.target,
        regexp_replace(c.pci, '\.[0-7]$', '') as device,
        coalesce(min(nullif(d.psid, '')), min(nullif(w.psid, '')), min(c.model)) as type, -- null: the next best
        min(c.vendor || ':' || c.device_id) || ' x' || count(distinct c.pci) as chip
    from card_function as c
    left join rdma_device as d on d.target = c.target and d.pci = c.pci
    left join nic_firmware as w on w.target = c.target and w.pci = c.pci
    where c.kind = 'nic'
    group by all
),

-- The halves of a Socket Direct card are one.
whole_card as (
    select distinct target, pci, min(pci) over (partition by target, sys_image_guid) as card
    from rdma_device
    where pci <> '' and sys_image_guid <> '' and device not like 'smi%'
),

placed as (
    select
        e.target,
        e.pci,
        t.type,
        t.chip,
        coalesce(c.card, t.device) as card, -- null: without an RDMA device the slot has to do
        e.own_gbps,
        w.slot || '.' || right(e.pci, 1) as place,
        s.shape,
        n.distance,
        n.relation,
        n.nearest_gpus,
        coalesce(n.is_below_switch, false) as is_beside_gpu -- null: no pair, no GPU
    from pcie_endpoint as e
    left join card_type as t on t.target = e.target and t.device = regexp_replace(e.pci, '\.[0-7]$', '')
    left join whole_card as c on c.target = e.target and c.pci = e.pci
    left join slot as w on w.target = e.target and w.pci = e.pci
    left join shapes as s on s.target = e.target and s.pci = e.pci
    left join near as n on n.target = e.target and n.nic = e.pci
    where e.kind = 'nic'
),

-- Which type of card the GPUs of a host talk through: the one that is beside most GPUs; where no card is beside any, the one
-- that has most PCIe lanes and cards. Never by rate, link or route: those are states.
covered as (
    select p.target, p.type, count(distinct g.gpu) as gpus
    from placed as p
    inner join gpu_nic as g on g.target = p.target and g.nic = p.pci and g.common_hop <> ''
    group by p.target, p.type
),

cards as (
    select target, type, card, max(coalesce(own_gbps, 0)) as gbps, any_value(chip) as chip -- null: then cards are counted
    from placed
    where type is not null
    group by target, type, card
),

types as (
    select
        c.target,
        c.type,
        any_value(c.chip) as chip,
        coalesce(any_value(v.gpus), 0) as gpus, -- null: no row, none
        (coalesce(any_value(v.gpus), 0), round(sum(c.gbps)), count(*)) as weight -- null: no row, none
    from cards as c
    left join covered as v on v.target = c.target and v.type = c.type
    group by c.target, c.type
),

main_type as (
    select
        target,
        arg_max(type, weight) as type,
        arg_max(chip, weight) as chip,
        max(gpus) as covered,
        -- Two types with the same weight: which it is cannot be told by position.
        count(*) filter (weight = best) = 1 as is_told,
        count(*) as types
    from (select *, max(weight) over (partition by target) as best from types)
    group by target
),

-- GPUs that have a card of that type beside them, and the sort of slots that those cards are in.
served as (
    select distinct g.target, g.gpu
    from gpu_nic as g
    inner join placed as p on p.target = g.target and p.pci = g.nic and g.common_hop <> ''
    inner join main_type as m on m.target = p.target and m.type = p.type
),

own_gpus as (
    select g.target, g.nic, bool_or(s.gpu is not null) as is_served -- null: a join that finds nothing
    from gpu_nic as g
    left join served as s on s.target = g.target and s.gpu = g.gpu
    where g.common_hop <> ''
    group by g.target, g.nic
),

sorts as (
    select distinct p.target, p.shape
    from placed as p
    inner join main_type as m on m.target = p.target and m.type = p.type
    where p.is_beside_gpu
),

positioned as (
    select
        h.*,
        p.* exclude (target, pci, card),
        case
            when h.pci = '' then ['undecided', 'no PCI function behind it']
            when k.gpus is null then [null, 'the PCI functions were not read']
            when k.gpus = 0 and (a.gpu_tool or v.target is not null) then ['undecided', 'no GPU on PCI, though the host is made for them']
            when k.gpus = 0 then ['other', 'no GPU on this host']
            when p.type is null then [null, 'its type was not read']
            when m.types = 1 and m.covered = 0 then ['compute', 'the only type of RDMA card of this host']
            when not m.is_told then ['undecided', 'two types of card are equally likely: only its state would tell']
            when m.covered = 0 and p.type = m.type then ['compute', 'of the type that has most of the PCIe lanes of this host']
            when m.covered = 0 then ['other', 'not of the type that has most of the PCIe lanes of this host']
            when p.type = m.type and p.is_beside_gpu then ['compute', p.relation || ' to a GPU']
            when p.type = m.type and s.shape is not null then ['compute', 'in a slot like those beside the GPUs']
            when p.type = m.type and m.covered < k.gpus then ['compute', 'of the type that is beside the GPUs, of which some have none']
            when p.is_beside_gpu and p.chip = m.chip and not o.is_served then ['compute', p.relation || ' to a GPU that has no other']
            when p.is_beside_gpu then ['other', 'beside a GPU, but not of the type that serves most of them']
            else ['other', 'other cards are nearer to the GPUs']
        end as position
    from physical as h
    left join placed as p on p.target = h.target and p.pci = h.pci
    left join answered as a on a.target = h.target
    left join host_kind as k on k.target = h.target
    left join (select distinct target from card_function where kind = 'nvswitch') as v on v.target = h.target
    left join main_type as m on m.target = h.target
    left join sorts as s on s.target = p.target and s.shape = p.shape
    left join own_gpus as o on o.target = p.target and o.nic = p.pci
),

-- What leaves by a device leaves by all that it lies on.
default_route as (
    select distinct target, netdev as via from route where destination = 'default' and routing_table = 'main' and netdev <> ''
),

routed as (
    select target, netdev, min(via) as via
    from (
        select target, via as netdev, via from default_route
        union all
        select d.target, s.below, d.via
        from default_route as d
        inner join netdev_stack as s on s.target = d.target and s.netdev = d.via
    )
    group by target, netdev
),

addressed as (
    select distinct target, netdev
    from (
        select target, netdev from address where scope = 'global'
        union all
        select a.target, s.below
        from address as a
        inner join netdev_stack as s on s.target = a.target and s.netdev = a.netdev
        where a.scope = 'global'
    )
),

-- mlxlink: 1024 is its number for an unplugged cable.
unplugged as (
    select target, pci, status_opcode = 1024 or cable_type ilike 'cable unplugged%' as is_unplugged from mlxlink_port
)

select
    p.target,
    p.read_at,
    p.device,
    p.port,
    p.pci,
    p.card,
    p.netdev,
    p.link_layer,
    p.state,
    case
        when p.state <> 'ACTIVE' then ''
        when p.link_layer = 'Ethernet' then coalesce(n.speed_dispute, '') -- null: a device in another namespace
        -- 3 % is how far the rounding of lane rates goes (FDR: 56 or 56.25).
        when abs(p.printed_gbps - x.speed_gbps) > 0.03 * x.speed_gbps
            then printf('%g by the driver, %g by the firmware', p.printed_gbps, x.speed_gbps)
        else ''
    end as rate_dispute,
    -- The network device's own link, where it is here. The rate of the infiniband class goes through the encoding of InfiniBand,
    -- which older kernels do not have for 400G: mlx5 then prints 40 Gb/sec (4X QDR).
    case
        when p.state = 'ACTIVE' and rate_dispute <> '' then null
        when p.state = 'ACTIVE' and p.link_layer = 'Ethernet' then coalesce(n.speed_mbps / 1000.0, x.speed_gbps, p.printed_gbps)
        else p.printed_gbps
    end as rate_gbps,
    p.type,
    k.kind,
    p.place,
    p.position[1] as position,
    p.position[2] as position_reason,
    r.via as default_route,
    case
        when r.via is not null then 'management'
        when p.state = 'DOWN' and g.netdev is null and a.addresses then 'unused'
        when p.state is null or not a.routes then null
        when p.state = 'DOWN' and a.addresses is not true then null
        else 'storage'
    end as state_role,
    case
        when r.via is not null then 'the default route goes through ' || r.via
        when p.state is null then 'its state was not read'
        when p.state = 'DOWN' and g.netdev is null and a.addresses then 'down and without an address'
        when not a.routes then 'the routes were not read'
        when p.state = 'DOWN' and a.addresses is not true then 'the addresses were not read'
        else 'no default route goes through it'
    end as state_reason,
    p.state = 'DOWN' and u.is_unplugged as is_unplugged,
    p.nearest_gpus,
    case when k.gpus = 0 then '' else p.relation end as gpu_relation
from positioned as p
left join answered as a on a.target = p.target
left join host_kind as k on k.target = p.target
left join routed as r on r.target = p.target and r.netdev = p.netdev and p.netdev <> ''
left join addressed as g on g.target = p.target and g.netdev = p.netdev and p.netdev <> ''
left join netdev_link as n on n.target = p.target and n.netdev = p.own_netdev
left join mlxlink_port as x on x.target = p.target and x.pci = p.pci and p.port = 1
left join unplugged as u on u.target = p.target and u.pci = p.pci
