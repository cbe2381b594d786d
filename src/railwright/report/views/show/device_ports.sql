-- The ports of the RDMA devices of a host, without those of virtual functions.
select
    d.pci,
    d.device,
    p.port,
    p.link_layer,
    p.state,
    -- Of a port that is nobody's (a bridge to NVLink) only the kernel tells one.
    case when r.device is null then p.rate_gbps else r.rate_gbps end,
    d.firmware_version,
    count(*) over (partition by d.device),
    g.netdev
from (from rdma_device where target = $target) as d
left join (from rdma_port where target = $target) as p on p.device = d.device
left join (from port where target = $target) as r on r.device = p.device and r.port = p.port
left join (
    select device, port, min(netdev) as netdev
    from gid
    where target = $target and netdev <> ''
    group by all
) as g on g.device = p.device and g.port = p.port
left join (from pci_function where target = $target) as f on f.pci = d.pci
where f.physical_function is null or f.physical_function = ''
order by length(d.device), d.device, p.port
