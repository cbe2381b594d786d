select
    target,
    pci,
    name,
    port,
    element,
    code as now,
    case when is_named then wanted_code when role = 'compute' then 0 end as wanted,
    case when driver = 'vfio-pci' then 'the card is given to a guest' else refused end as refused,
    parameter,
    device
from stored_parameter
where regexp_matches(name, '^PCI_BUS[0-7]_RESTRICT$') and (is_named or role = 'compute' or role is null)
