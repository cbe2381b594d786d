-- Of a bond the RDMA device of the bond has it.
select
    p.target,
    p.netdev as name,
    case t.default_mode when 'IB/RoCE v1' then 'v1' when 'RoCE v2' then 'v2' end as now,
    -- The site file has no key for it: fabric.roce_mode would be needed.
    null::varchar as wanted,
    case when p.role = 'compute' then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_scope as p
left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
