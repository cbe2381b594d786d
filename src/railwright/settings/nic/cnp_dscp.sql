select
    p.target,
    p.netdev as name,
    c.dscp as now,
    s.cnp_dscp as wanted,
    case
        when c.told_by = 'firmware' then 'the driver does not show it: set CNP_DSCP in firmware'
        when c.told_by = 'driver' and p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_link as p
cross join site as s
left join netdev_cnp as c on c.target = p.target and c.netdev = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
