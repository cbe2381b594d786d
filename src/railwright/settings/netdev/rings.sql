select
    p.target,
    p.netdev as name,
    null::varchar as now, -- no probe reads it
    -- The site file has no key for it: fabric.rings would be needed.
    null::varchar as wanted,
    case when p.role = 'compute' then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_link as p
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
