select
    n.target,
    n.pci,
    c.max_read_request as now,
    s.max_read_request as wanted,
    case
        when n.virtualization = 'guest' then 'a guest cannot write it'
        when n.role = 'compute' and n.virtualization is not null then ''
    end as refused,
    n.device
from nic_scope as n
cross join site as s
left join pci_config as c on c.target = n.target and c.pci = n.pci
where n.role = 'compute' or n.role is null
