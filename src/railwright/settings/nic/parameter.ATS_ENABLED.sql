-- Guests that get whole NICs and GPUs need it, bare metal does not.
with inside_nic as (
    select distinct h.target, h.pci
    from pcie_path as h
    inner join pci_function as f on f.target = h.target and f.pci = h.hop and f.vendor = '15b3'
    where h.place > 0
)

select
    p.target,
    p.pci,
    p.name,
    p.port,
    p.element,
    p.code as now,
    case
        when p.is_named then p.wanted_code
        when p.virtualization = 'hypervisor' and p.driver = 'vfio-pci' and h.gpus > 0 and c.passes_physical_functions is not false then 1
        when p.virtualization = 'bare metal' and p.architecture = 'x86_64' and p.role = 'compute' and i.pci is null then 0
    end as wanted,
    case when p.is_grace then 'Grace has no ATS' else p.refused end as refused,
    p.parameter,
    p.device
from stored_parameter as p
inner join host_scope as h on h.target = p.target
left join node_class as c on c.target = p.target
left join inside_nic as i on i.target = p.target and i.pci = p.pci
where p.name = 'ATS_ENABLED'
