select
    p.target,
    p.pci,
    p.name,
    p.port,
    p.element,
    case p.code when 1 then 'on' when 0 then 'off' end as now,
    case
        when p.is_named then case p.wanted_code when 1 then 'on' when 0 then 'off' end
        when s.adaptive_routing then 'on'
    end as wanted,
    case
        when p.is_named and s.adaptive_routing and p.wanted_code = 0 then 'the site file says both on and off'
        else p.refused
    end as refused,
    p.parameter,
    p.device
from stored_parameter as p
cross join site as s
where p.name = 'ROCE_ADAPTIVE_ROUTING_EN' and p.link_layer = 'Ethernet' and (p.is_named or p.role = 'compute' or p.role is null)
