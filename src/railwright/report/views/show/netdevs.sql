select
    name,
    pci,
    mtu,
    operstate,
    speed_mbps,
    master,
    -- Representors of virtual functions (pf0vf1) are no ports of their own.
    kind = 'physical' and (port_name is null or port_name = '' or regexp_full_match(port_name, 'p[0-9]+')) as is_port
from netdev
where target = $target
order by dev_port, name
