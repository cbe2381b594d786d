-- If pause is negotiated, rx and tx are only what the port would like: what counts is what came of it.
with pause as (
    select
        *,
        case when autonegotiate then rx_negotiated when not autonegotiate then rx end as stops,
        case when autonegotiate then tx_negotiated when not autonegotiate then tx end as asks
    from netdev_pause
)

select
    p.target,
    p.netdev as name,
    case
        when a.stops and a.asks then 'rx and tx'
        when a.stops and not a.asks then 'rx'
        when not a.stops and a.asks then 'tx'
        when not a.stops and not a.asks then 'off'
    end as now,
    -- Beside PFC it stops all classes of the port.
    case when s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') or p.pfc_mask <> 0 then 'off' end as wanted,
    case
        when is_virtual_function(f.device_id) then 'a virtual function has no pause of its own'
        when p.role = 'compute' and f.device_id is not null and a.rx is not null and a.tx is not null then ''
    end as refused,
    case when a.autonegotiate then 'on' when not a.autonegotiate then 'off' end as autoneg,
    case when a.rx then 'on' when not a.rx then 'off' end as rx,
    case when a.tx then 'on' when not a.tx then 'off' end as tx,
    p.device,
    p.port,
    p.pci
from port_qos as p
cross join site as s
inner join port_scope as f on f.target = p.target and f.device = p.device and f.port = p.port
left join pause as a on a.target = p.target and a.netdev = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
