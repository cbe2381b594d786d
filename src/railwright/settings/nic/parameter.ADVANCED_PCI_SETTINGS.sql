select target, pci, name, port, element, code as now, wanted_code as wanted, refused, parameter, device
from stored_parameter
where name = 'ADVANCED_PCI_SETTINGS'
