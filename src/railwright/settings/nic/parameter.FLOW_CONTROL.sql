-- 802.3x pause and PFC exclude each other.
select
    p.target,
    p.pci,
    p.name,
    p.port,
    p.element,
    p.code as now,
    case when p.is_named then p.wanted_code when s.pfc_mask <> 0 then 1 end as wanted,
    case
        when p.is_named and s.pfc_mask <> 0 and p.wanted_code <> 1 then 'the site file has PFC for the fabric: pause must be off'
        else p.refused
    end as refused,
    p.parameter,
    p.device
from stored_parameter as p
cross join site as s
where p.name = 'FLOW_CONTROL' and p.link_layer = 'Ethernet' and (p.is_named or p.role = 'compute' or p.role is null)
