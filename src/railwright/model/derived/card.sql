-- What sits in a slot: all functions of one card together.
with answered as (
    select
        target,
        -- `absent` is an answer too: there is none.
        bool_or(probe = 'infiniband' and status in ('ok', 'absent')) as rdma,
        bool_or(probe = 'netdev' and status in ('ok', 'absent')) as netdevs
    from probe_result
    where probe in ('infiniband', 'netdev')
    group by target
),

-- Whose function has a device is not known where one device does not say its function.
placeless_rdma as (
    select distinct target from rdma_device where pci is null
),

placeless_netdev as (
    select distinct target from netdev where pci is null
),

rdma as (
    select target, pci, count(*) as devices, min(psid) as psid from rdma_device where pci <> '' group by target, pci
),

-- A representor is not the function's own.
netdevs as (
    select
        target,
        pci,
        count(*) as devices,
        -- The kernel tells no carrier of a port that is switched off.
        count(*) filter (carrier) as links,
        bool_or(carrier is null and operstate is distinct from 'down') as is_unsure -- null: a carrier that was not read
    from netdev
    where kind = 'physical' and pci <> '' and port_name not like 'pf%vf%'
    group by target, pci
),

rates as (
    select target, pci, case when count(rate_gbps) = count(*) then min(rate_gbps) end as slowest_gbps
    from port_sign
    where state = 'ACTIVE'
    group by target, pci
),

cards as (
    select
        s.target,
        max(s.read_at) as read_at,
        s.slot,
        s.slot_by_bus,
        s.root_named_by,
        s.switch_slot,
        min(s.pci) as pci,
        arg_min(s.kind, s.pci) as kind,
        arg_min(s.part, s.pci) as part,
        count(*) as functions,
        case
            when bool_or(s.state = 'dead') then 'dead'
            when count(s.state) = count(*) then min(s.state)
        end as state,
        sum(r.devices) as rdma_devices,
        sum(n.devices) as netdevs,
        sum(n.links) as links,
        bool_or(n.is_unsure) as links_unsure,
        case when count(t.slowest_gbps) = count(t.target) then min(t.slowest_gbps) end as slowest_gbps,
        min(r.psid) as psid,
        bool_or(f.driver in ('vfio-pci', 'uio_pci_generic', 'igb_uio')) as is_given_away,
        bool_or(f.driver = '') as is_driverless
    from slot as s
    inner join pci_function as f on f.target = s.target and f.pci = s.pci
    left join rdma as r on r.target = s.target and r.pci = s.pci
    left join netdevs as n on n.target = s.target and n.pci = s.pci
    left join rates as t on t.target = s.target and t.pci = s.pci
    where s.kind <> 'port' and s.slot is not null
    group by s.target, s.slot, s.slot_by_bus, s.root_named_by, s.switch_slot
)

select
    c.* exclude (rdma_devices, netdevs, links, links_unsure, psid),
    case when a.rdma and pr.target is null then coalesce(c.rdma_devices, 0) end as rdma_devices, -- null: read, and none
    case when a.netdevs and pn.target is null then coalesce(c.netdevs, 0) end as netdevs, -- null: the same
    case
        when a.netdevs and pn.target is null and c.links_unsure is not true then coalesce(c.links, 0) -- null: the same
    end as links,
    case when a.rdma and pr.target is null then coalesce(c.psid, '') end as psid -- null: the same
from cards as c
left join answered as a on a.target = c.target
left join placeless_rdma as pr on pr.target = c.target
left join placeless_netdev as pn on pn.target = c.target
