-- Ceilings of all NICs, ports and hosts of a snapshot, as columns; the macros are those of macros.py. NULL = not known.
-- `least` skips NULL, so it stands only where both sides are known.

-- A guest's PCIe links are what its hypervisor makes up. Grace does not let lscpu tell, and its root ports are no guest's.
create or replace temp table real_platform as
select
    t.target,
    case when c.hypervisor = '' or g.target is not null then true when c.hypervisor <> '' then false end as is_real,
    socket_gbps(c.vendor, c.family, c.model_number) as socket_gbps
from target as t
left join cpu as c on c.target = t.target
left join (
    select distinct target
    from pci_function
    where vendor = '10de' and device in ('22b1', '22b2', '22b8', '2f95', '2f96')
        and target not in (select target from cpu where hypervisor is not null)
) as g on g.target = t.target
where t.kind = 'host';

-- The large tables, cut down to what is asked of them: a join of several would build its hash over all functions of a host.
-- A compute NIC and the GPU beside it talk below the switch that they share; all others go through the root complex.
create or replace temp table nic as
select
    e.target,
    e.pci,
    e.root_port,
    case when c.pci is null then w.memory_hop else w.gpu_hop end as narrowest_hop,
    case when c.pci is null then w.memory_gbps else w.gpu_gbps end as narrowest_gbps
from pcie_endpoint as e
left join nic_path as w on w.target = e.target and w.pci = e.pci
left join (
    select distinct target, pci from site_port where role = 'compute'
) as c on c.target = e.target and c.pci = e.pci
where e.kind = 'nic';

create or replace temp table nic_hop as
select h.target, h.pci, h.hop, h.speed_gts, h.width
from pcie_path as h
semi join nic as n on n.target = h.target and n.pci = h.pci and n.narrowest_hop = h.hop;

create or replace temp table nic_config as
select c.target, c.pci, c.max_payload, c.max_read_request, c.extended_tag
from pci_config as c
semi join (select target, pci from nic union select target, root_port from nic) as n on n.target = c.target and n.pci = c.pci;

create or replace temp table nic_function as
select f.target, f.pci, f.iommu_type
from pci_function as f
semi join nic as n on n.target = f.target and n.pci = f.pci
where f.class like '02%'; -- most functions are none of ours

-- MAX_ACC_OUT_READ is in units of 1 KB, and 0 leaves it to the card.
create or replace temp table nic_window as
select p.target, p.pci, p.current_code * 1024 as bytes
from nic_parameter as p
where p.name = 'MAX_ACC_OUT_READ' and p.port = 0 and p.element = -1 and p.current_code > 0;

-- Of a physical function: what its PCIe path lets through.
create or replace temp view nic_ceiling as
with nics as (
    select
        e.target,
        e.pci,
        e.narrowest_hop,
        case when r.is_real then h.speed_gts end as gts,
        case when r.is_real then h.width end as width,
        case when r.is_real then e.narrowest_gbps end as line_gbps,
        c.max_payload,
        -- Completions are made by the root port, as large as it is set to.
        u.max_payload as completion_payload,
        c.max_read_request,
        -- Tags of 10 bits are not read: then more could be in flight, if the card used them.
        case c.extended_tag when true then 256 when false then 32 end * c.max_read_request as tagged_bytes,
        r.is_real
    from nic as e
    left join real_platform as r on r.target = e.target
    left join nic_hop as h on h.target = e.target and h.pci = e.pci
    left join nic_config as c on c.target = e.target and c.pci = e.pci
    left join nic_config as u on u.target = e.target and u.pci = e.root_port
)

select
    n.*,
    case when p.bytes < n.tagged_bytes then p.bytes else n.tagged_bytes end as window_bytes,
    into_memory_gbps(n.line_gbps, n.max_payload) as into_memory_gbps,
    from_memory_gbps(n.line_gbps, n.completion_payload) as from_memory_gbps,
    pcie_gbps(n.line_gbps, n.max_payload, n.completion_payload) as pcie_gbps,
    pcie_floor_gbps(n.line_gbps) as pcie_floor_gbps,
    both_ways_gbps(n.gts, n.width, n.max_payload, n.max_read_request) as both_ways_gbps,
    -- Of any other type nobody knows here whether it translates.
    case when f.iommu_type in ('DMA', 'DMA-FQ') then 'translated' when f.iommu_type in ('identity', '') then 'direct' end as latency_class
from nics as n
left join nic_function as f on f.target = n.target and f.pci = n.pci
left join nic_window as p on p.target = n.target and p.pci = n.pci;

-- Of a port by itself: the smaller of what its wire and what its NIC's PCIe path lets through.
create or replace temp table port_ceiling as
with gids as (
    select
        target,
        device,
        port,
        case
            when bool_or(type = 'RoCE v2' and starts_with(gid, '0000:0000:0000:0000:0000:ffff:')) then true
            when count(type) = count(*) and count(gid) = count(*) then false
        end as is_ipv4
    from gid
    group by target, device, port
),

ports as (
    select
        p.target,
        p.device,
        p.port,
        p.pci,
        p.card,
        p.netdev,
        p.role,
        p.rail,
        p.link_layer,
        p.state,
        -- A port that is not up prints a rate that is not its own; a bond's device has one member's.
        case when p.state = 'ACTIVE' then case when b.netdev is null then p.rate_gbps else d.speed_mbps / 1000 end end as rate_gbps,
        case
            when v.active_mtu is not null then v.active_mtu
            when p.link_layer = 'Ethernet' then rdma_mtu(d.mtu)
        end as mtu,
        v.active_mtu is null and p.link_layer = 'Ethernet' and d.mtu is not null as is_mtu_derived,
        case when p.link_layer = 'InfiniBand' then true else g.is_ipv4 end as is_ipv4,
        p.gpu_relation
    from site_port as p
    left join bond as b on b.target = p.target and b.netdev = p.netdev
    left join netdev as d on d.target = p.target and d.name = p.netdev
    left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
    left join gids as g on g.target = p.target and g.device = p.device and g.port = p.port
),

wires as (
    select
        *,
        rdma_headers(link_layer, is_ipv4) as headers,
        wire_write_gbps(rate_gbps, mtu, rdma_headers(link_layer, is_ipv4)) as wire_gbps
    from ports
),

whole as (
    select
        w.*,
        n.* exclude (target, pci),
        ceiling_of(wire_write_gbps(w.rate_gbps, w.mtu, w.headers), wire_floor_gbps(w.rate_gbps, w.headers), n.pcie_gbps, n.pcie_floor_gbps)
            as write_gbps,
        ceiling_of(wire_read_gbps(w.rate_gbps, w.mtu, w.headers), wire_floor_gbps(w.rate_gbps, w.headers), n.pcie_gbps, n.pcie_floor_gbps)
            as read_gbps,
        ceiling_of(wire_send_gbps(w.rate_gbps, w.mtu, w.headers), wire_floor_gbps(w.rate_gbps, w.headers), n.pcie_gbps, n.pcie_floor_gbps)
            as send_gbps,
        case when n.both_ways_gbps <= w.wire_gbps then n.both_ways_gbps when w.wire_gbps < n.both_ways_gbps then w.wire_gbps end as both_gbps
    from wires as w
    left join nic_ceiling as n on n.target = w.target and n.pci = w.pci
)

select
    w.*,
    case when w.write_gbps is null then null when w.wire_gbps <= w.write_gbps then 'port' else 'PCIe' end as binding,
    -- What the ceiling would be without that.
    case when w.wire_gbps <= w.write_gbps then w.pcie_gbps when w.write_gbps is not null then w.wire_gbps end as next_gbps,
    ceiling_basis(
        w.link_layer, w.rate_gbps,
        case when w.write_gbps is null then null when w.wire_gbps <= w.write_gbps then 'port' else 'PCIe' end,
        w.gts, w.width
    ) as basis,
    -- Nobody has published how far below its ceiling a NIC behind a translating IOMMU may end.
    case when w.latency_class = 'direct' then $low * w.write_gbps end as low_gbps,
    $high * w.write_gbps as high_gbps,
    case when w.latency_class = 'direct' then $alarm * w.write_gbps end as alarm_gbps,
    -- A read that takes longer than this to come back binds, whatever the links carry.
    w.window_bytes * 8 / (1000 * w.write_gbps) as read_wait_us,
    case
        when w.gpu_relation = 'SYS' and r.socket_gbps < w.write_gbps then r.socket_gbps
        when w.gpu_relation = 'SYS' and r.socket_gbps is null then null
        when w.gpu_relation <> '' then w.write_gbps
    end as gpu_gbps,
    case
        when w.write_gbps is null then concat_ws(
            ', ',
            case when w.state <> 'ACTIVE' then 'the port is ' || w.state when w.rate_gbps is null then 'rate not read' end,
            case when w.mtu is null then 'MTU not read' end,
            case when w.headers is null then 'GIDs not read' end,
            case
                when w.is_real is false then 'a guest sees PCIe links that its hypervisor makes up'
                when w.line_gbps is null then 'PCIe path not read'
                when w.pcie_gbps is null then 'PCIe payload not read'
            end
        )
        else ''
    end as unknown
from whole as w
left join real_platform as r on r.target = w.target;

-- Of a card: its ports that are up together against its slots together. The halves of a Socket Direct card each show its ports, so the
-- fuller slot says what all of them carry; two functions in one slot share it.
create or replace temp view card_ceiling as
with slots as (
    select
        p.target,
        p.card,
        h.hop as slot,
        count(*) filter (p.state = 'ACTIVE') as ports,
        -- A port that is not up carries nothing: that is known.
        case
            when count(p.wire_gbps) = count(*) filter (p.state = 'ACTIVE' or p.state is null)
                then coalesce(sum_gbps(p.wire_gbps), 0)
        end as wire_gbps,
        case when count(p.pcie_gbps) = count(*) then min(p.pcie_gbps) end as pcie_gbps,
        case when count(p.pcie_floor_gbps) = count(*) then min(p.pcie_floor_gbps) end as pcie_floor_gbps
    from port_ceiling as p
    left join pcie_path as h on h.target = p.target and h.pci = p.pci and h.place = 1
    where p.role = 'compute'
    group by p.target, p.card, h.hop
),

cards as (
    select
        target,
        card,
        max(ports) as ports,
        count(*) as slots,
        case when count(wire_gbps) = count(*) and count(slot) = count(*) then max(wire_gbps) end as wire_gbps,
        case when count(pcie_gbps) = count(*) and count(slot) = count(*) then sum_gbps(pcie_gbps) end as pcie_gbps,
        case when count(pcie_floor_gbps) = count(*) and count(slot) = count(*) then sum_gbps(pcie_floor_gbps) end as pcie_floor_gbps
    from slots
    where card is not null
    group by target, card
)

select *, ceiling_of(wire_gbps, null, pcie_gbps, pcie_floor_gbps) as write_gbps from cards;

-- What cards lose to a link that they share on the way to memory, by root port. A NIC with a GPU below the same switch does not pass the
-- switch's own link. Of links in a row the tightest counts: what is left is a ceiling, if not the lowest.
create or replace temp view uplink_loss as
with ways as (
    select
        p.target,
        p.card,
        n.root_port,
        h.hop,
        min(pcie_gbps(h.gbps, x.max_payload, x.completion_payload)) as carried,
        count(pcie_gbps(h.gbps, x.max_payload, x.completion_payload)) = count(*) as is_known
    from port_ceiling as p
    inner join nic as n on n.target = p.target and n.pci = p.pci
    inner join nic_path as w on w.target = p.target and w.pci = p.pci and w.gpu = ''
    inner join nic_ceiling as x on x.target = p.target and x.pci = p.pci
    inner join pcie_path as h on h.target = p.target and h.pci = p.pci and h.place > 0
    where p.role = 'compute' and p.state = 'ACTIVE' and p.card is not null
    group by all
),

links as (
    select
        w.target,
        w.root_port,
        case when bool_and(w.is_known) and count(c.write_gbps) = count(*) then greatest(sum_gbps(c.write_gbps) - min(w.carried), 0) end as lost
    from ways as w
    inner join card_ceiling as c on c.target = w.target and c.card = w.card
    group by w.target, w.root_port, w.hop
    having count(*) > 1
),

roots as (
    select target, root_port, case when count(lost) = count(*) then max(lost) end as lost
    from links
    group by target, root_port
)

select target, case when count(lost) = count(*) then sum(lost) end as lost
from roots
group by target;

-- Of a host: its compute cards together, less what they lose to links that they share. Unknown where the role or the card of one
-- port is: it may be one more of them.
create or replace temp table host_ceiling as
with asked as (
    select target, bool_and(status in ('ok', 'absent')) as is_read
    from probe_result
    where probe = 'infiniband'
    group by target
),

-- A NIC on the bus that gives the host neither port nor network device: a pod, a guest or the DPU may have it.
lent as (
    select distinct e.target
    from nic as e
    anti join port_ceiling as p on p.target = e.target and p.pci = e.pci
    anti join netdev as d on d.target = e.target and d.pci = e.pci
),

-- Whether there may be ports beside those that are known: some have no role, or not all of them were read.
known as (
    select
        t.target,
        case when count(p.device) = 0 then a.is_read is not true else bool_or(p.role is null or (p.role = 'compute' and p.card is null)) end
        or a.is_read is false
        or e.target is not null as is_open
    from target as t
    left join port_ceiling as p on p.target = t.target
    left join asked as a on a.target = t.target
    left join lent as e on e.target = t.target
    where t.kind = 'host'
    group by t.target, a.is_read, e.target
)

select
    k.target,
    count(c.card) as cards,
    case when count(c.card) > 0 then sum(c.ports)::BIGINT when not any_value(k.is_open) then 0 end as ports,
    case when not any_value(k.is_open) and count(c.wire_gbps) = count(c.card) then coalesce(sum_gbps(c.wire_gbps), 0) end as wire_gbps,
    case
        when not any_value(k.is_open) and count(c.write_gbps) = count(c.card)
            then coalesce(sum_gbps(c.write_gbps), 0) - case when u.target is null then 0 else u.lost end
    end as write_gbps
from known as k
left join card_ceiling as c on c.target = k.target
left join uplink_loss as u on u.target = k.target
group by k.target, u.target, u.lost;
