-- Where a subject sits: what its PCIe path crosses ($own: its names on $target), the GPU beside a NIC, and the link partner.
select 'related' as kind, '' as target, hop as name from pcie_path where target = $target and list_contains($own, pci)
union
select 'related', '', root_port from pcie_endpoint where target = $target and list_contains($own, pci)
union
select 'related', '', gpu from nic_path where target = $target and list_contains($own, pci)
union
select 'partner', peer, peer_port from link_end where target = $target and list_contains($own, port) and peer_port <> ''
order by all
