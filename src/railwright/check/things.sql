-- What a subject of a machine may begin with.
select target, device as name from rdma_device
union
select target, name from netdev
union
select target, pci from pci_function
union
select target, port from switch_port
