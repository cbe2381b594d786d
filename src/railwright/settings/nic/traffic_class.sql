-- Of a bond the RDMA device of the bond has it.
select
    p.target,
    p.netdev as name,
    case when t.traffic_class = -1 then 'none' else t.traffic_class::varchar end as now,
    -- The site file has no key for it: fabric.forced_traffic_class would be needed. data_dscp says what jobs are to send, which
    -- library.setting does without the rest of the port's traffic.
    null::varchar as wanted,
    case
        when t.traffic_class = -1 then 'none is set, and how to clear it again is not documented'
        when p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_scope as p
left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
