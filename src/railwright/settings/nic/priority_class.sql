-- Priorities to classes, how each class is scheduled, and its share: one value, written in one call.
with priorities as (
    select target, netdev, string_agg(traffic_class, ',' order by priority) as classes, count(traffic_class) as known
    from dcb_ets_priority
    group by target, netdev
),

classes as (
    select
        target,
        netdev,
        string_agg(scheduler, ',' order by traffic_class) as schedulers,
        string_agg(bandwidth_percent, ',' order by traffic_class) as shares,
        least(count(scheduler), count(bandwidth_percent)) as known -- null: counts are never
    from dcb_ets_class
    group by target, netdev
)

select
    p.target,
    p.netdev as name,
    case when u.known = 8 and c.known = 8 then u.classes || ':' || c.schedulers || ':' || c.shares end as now,
    -- The site file has no key for it: fabric.traffic_classes would be needed.
    null::varchar as wanted,
    case
        when p.dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when p.lldpad_running then 'lldpad owns it: stop it first'
        when p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_qos as p
left join priorities as u on u.target = p.target and u.netdev = p.netdev
left join classes as c on c.target = p.target and c.netdev = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
