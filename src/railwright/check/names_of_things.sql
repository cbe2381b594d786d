-- One row for everything on a machine ($target) that has names, with all of them: an RDMA port with its PCI function and network
-- device, a bond with its members, any other network device or PCI function, a switch port with its alias.
with bonds as (
    select b.bond, list(b.member) || list(n.pci) as names
    from bond_member as b
    left join netdev as n on n.target = b.target and n.name = b.member
    where b.target = $target
    group by b.bond
)

select [p.device, p.pci, p.netdev] || coalesce(b.names, [])
from port as p
left join bonds as b on b.bond = p.netdev
where p.target = $target
union all
select [device, pci] from rdma_device where target = $target
union all
select [name, case when kind = 'physical' then pci end] from netdev where target = $target
union all
select [pci] from pci_function where target = $target
union all
select distinct [port, alias] from switch_port where target = $target
