-- What lies in the flash, once per card: it runs from the next reset on.
with boards as (
    select target, pci, min(psid) as psid
    from rdma_device
    group by target, pci
),

cards as (
    select target, pci, min(card) as card
    from port_scope
    group by target, pci
)

select
    n.target,
    n.pci,
    case when f.version <> '' then f.version end as now,
    w.version as wanted,
    case
        when is_of_other_vendor(n.vendor) or is_virtual_function(n.device_id) then 'it has no firmware that flint could burn'
        when n.virtualization = 'guest' then 'a guest does not burn it: its host does'
        when f.psid <> b.psid then 'driver and flint name different boards'
        when f.original_psid <> '' then 'its board id was changed: which image fits is to be asked'
        when f.running_version <> '' and f.running_version <> f.version and f.version <> w.version
            then 'another version waits in its flash: reset it, or reactivate the old image, first'
        when f.running_version is null then null
        when n.role = 'compute' and n.virtualization is not null and n.device_id is not null then ''
    end as refused,
    f.psid,
    n.device
from nic_scope as n
left join nic_firmware as f on f.target = n.target and f.pci = n.pci
left join boards as b on b.target = n.target and b.pci = n.pci
left join cards as c on c.target = n.target and c.pci = n.pci
left join wanted_firmware as w on w.psid = f.psid
where (n.role = 'compute' or n.role is null) and (c.card is null or c.card = n.pci)
