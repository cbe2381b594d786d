select
    p.target,
    p.pci,
    p.name,
    p.port,
    p.element,
    case p.code when 1 then 'on' when 0 then 'off' end as now,
    case
        when p.is_named then case p.wanted_code when 1 then 'on' when 0 then 'off' end
        when s.programmable_cc then 'on'
        when not s.programmable_cc then 'off'
    end as wanted,
    case
        when p.is_named and s.programmable_cc <> (p.wanted_code = 1) then 'the site file says both on and off'
        when l.next_code = 1 then 'ROCE_CC_LEGACY_DCQCN is on, and the card refuses both: turn it off first'
        else p.refused
    end as refused,
    p.parameter,
    p.device
from stored_parameter as p
cross join site as s
left join nic_parameter as l
    on l.target = p.target and l.pci = p.pci and l.name = 'ROCE_CC_LEGACY_DCQCN' and l.port = 0 and l.element = -1
where p.name = 'USER_PROGRAMMABLE_CC' and p.link_layer = 'Ethernet' and (p.is_named or p.role = 'compute' or p.role is null)
