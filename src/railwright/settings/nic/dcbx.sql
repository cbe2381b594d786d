-- Who may set QoS on the port; lldpad and what firmware does by itself are settings of their own.
select
    p.target,
    p.netdev as name,
    case p.dcbx_mode when 'OS' then 'host' when 'Firmware' then 'firmware' end as now,
    s.dcbx_owner as wanted,
    case when p.role = 'compute' then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_qos as p
cross join site as s
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
