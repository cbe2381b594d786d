-- The link of a host's network device: what the kernel, the driver and the firmware tell of it. What they contradict each other on
-- is not known. The firmware's tool tells the first port of a function, of which a representor (pf0vf1) is not one.
with told as (
    select
        n.target,
        greatest(n.read_at, l.read_at, f.read_at, k.read_at) as read_at, -- null: who told nothing has no time
        n.name as netdev,
        l.link_detected,
        n.carrier,
        case when n.operstate = 'up' then true when n.operstate in ('down', 'lowerlayerdown') then false end as operative,
        l.speed_mbps as driver_mbps,
        n.speed_mbps as kernel_mbps,
        k.speed_gbps * 1000 as firmware_mbps,
        case when f.active in ('RS', 'LLRS') then 'rs' when f.active = 'BaseR' then 'fc' when f.active = 'Off' then 'none' end as driver_fec,
        case when k.fec like 'RS(%' then 'rs' when k.fec = 'Firecode' then 'fc' when k.fec = 'none' then 'none' end as firmware_fec,
        case f.configured when 'Auto' then 'auto' when 'RS' then 'rs' when 'BaseR' then 'fc' when 'Off' then 'none' when 'None' then '' end as fec_asked,
        l.lanes,
        l.auto_negotiation
    from netdev as n
    left join ethtool_link as l on l.target = n.target and l.netdev = n.name
    left join netdev_fec as f on f.target = n.target and f.netdev = n.name
    left join mlxlink_port as k on k.target = n.target and k.pci = n.pci and n.pci <> '' and n.dev_port = 0 and n.port_name not like 'pf%vf%'
    where n.kind = 'physical'
)

select
    target,
    read_at,
    netdev,
    case
        when link_detected <> carrier or link_detected <> operative or carrier <> operative then null
        else coalesce(link_detected, carrier, operative) -- null: who tells is enough
    end as is_up,
    case
        when driver_mbps <> kernel_mbps
            then printf('%g by ethtool, %g by sysfs', driver_mbps / 1000, kernel_mbps / 1000)
        -- 3 % is how far the rounding of lane rates goes (FDR: 56 or 56.25).
        when abs(coalesce(driver_mbps, kernel_mbps) - firmware_mbps) > 0.03 * firmware_mbps
            then printf('%g by the driver, %g by the firmware', coalesce(driver_mbps, kernel_mbps) / 1000, firmware_mbps / 1000)
        else ''
    end as speed_dispute,
    case when speed_dispute = '' then coalesce(driver_mbps, kernel_mbps, firmware_mbps::integer) end as speed_mbps, -- null: who tells is enough
    lanes,
    case when driver_fec <> firmware_fec then null else coalesce(driver_fec, firmware_fec) end as fec, -- null: who tells is enough
    fec_asked,
    auto_negotiation
from told
