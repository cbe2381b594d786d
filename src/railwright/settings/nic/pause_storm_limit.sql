select
    p.target,
    p.netdev as name,
    null::varchar as now, -- no probe reads it
    -- The site file has no key for it: fabric.pause_storm_limit would be needed.
    null::varchar as wanted,
    case when is_of_other_vendor(f.vendor) then 'only mlx5 has it' when p.role = 'compute' then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_link as p
inner join port_scope as f on f.target = p.target and f.device = p.device and f.port = p.port
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
