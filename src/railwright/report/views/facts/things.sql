-- What several sections count. Virtual functions are left out everywhere: they repeat what their physical function says. Most
-- sites have none, and an anti join with nothing costs nothing.
create table virtual_function as
select target, pci
from pci_function
where physical_function <> '';

create table rdma as
from rdma_device
anti join virtual_function using (target, pci);

-- Adapters are a fiftieth of all PCI functions: 02 is network, 0c06 the InfiniBand of old. Picked out once: a million NICs are
-- fifty million functions.
create table adapter as
from pci_function
where class like '02%' or class like '0c06%';

-- PCI functions with an RDMA device; sub-functions share theirs. NULL: which one was not read.
create table nic as
select distinct target, pci
from rdma
where pci is distinct from '';

-- Netdevs of such functions; representors of virtual functions (pf0vf1) share them too.
create table rdma_netdev as
from netdev
semi join rdma using (target, pci)
where pci <> '' and kind is distinct from 'virtual' and (is_port(port_name) or port_name is null);
