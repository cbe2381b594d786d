-- Only a speed that is forced, and is not the one that the site file gives the class of the host. What negotiates is left alone.
select
    p.target,
    p.netdev as name,
    case when k.auto_negotiation then 'negotiated' when not k.auto_negotiation then k.speed_mbps::varchar end as now,
    case
        when c.unconfirmed or c.port_rate_gbps is null then null
        when k.auto_negotiation then 'negotiated'
        else (c.port_rate_gbps * 1000)::integer::varchar
    end as wanted,
    case
        when is_virtual_function(f.device_id) then 'a virtual function has no link of its own'
        when not k.auto_negotiation and not contains(',' || k.supported_link_modes, ',' || wanted || 'base')
            then 'the port does not have this speed'
        when e.other_kind is null then 'its link partner was not read: both ends need the same speed'
        when p.role = 'compute' and f.device_id is not null and k.supported_link_modes is not null then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_link as p
inner join port_scope as f on f.target = p.target and f.device = p.device and f.port = p.port
left join ethtool_link as k on k.target = p.target and k.netdev = p.netdev
left join node_class as c on c.target = p.target
left join end_pair as e on e.target = p.target and e.port = p.netdev and e.kind = 'host'
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
