select
    d.target,
    -- mlxconfig names only cards whose chip is an MT....
    case when d.pci = '' or d.hca_type not like 'MT%' then '-' else said(c.part_number) end as part_number,
    said(d.psid) as psid,
    said(d.firmware_version) as firmware,
    said(d.hca_type) as chip
from rdma as d
left join nic_card as c on c.target = d.target and c.pci = d.pci
