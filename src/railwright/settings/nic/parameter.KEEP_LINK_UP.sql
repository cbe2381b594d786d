select target, pci, name, port, element, code as now, wanted_code as wanted, refused, parameter, device
from stored_parameter
where name in ('KEEP_ETH_LINK_UP', 'KEEP_IB_LINK_UP', 'KEEP_LINK_UP_ON_BOOT', 'KEEP_LINK_UP_ON_STANDBY')
