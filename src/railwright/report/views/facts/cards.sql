-- NICs that the firmware tool can be asked about, as the runner chooses them, and what may be one.
create table asked_card as
select f.target, f.pci, r.digest, coalesce(c.part_number, '') as part_number
from (
    from pci_function
    where
        coalesce(vendor = '15b3', true)
        and coalesce(class like '02%', true)
        and coalesce(physical_function = '', true)
) as f
left join (from digest where fact_table = 'nic_parameter') as r on r.target = f.target and r.subject = f.pci
left join nic_card as c on c.target = f.target and c.pci = f.pci;

-- Most cards are set alike: parameters are read of one card per kind.
create table kind_parameter as
select k.digest, p.* exclude (target, read_at, pci)
from nic_parameter as p
inner join (
    select digest, arg_min(target, row(target, pci)) as target, arg_min(pci, row(target, pci)) as pci
    from asked_card
    where digest is not null
    group by digest
) as k on k.target = p.target and k.pci = p.pci;
