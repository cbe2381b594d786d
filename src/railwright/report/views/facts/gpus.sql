select
    target,
    case when is_lost then smi_status else name end as model,
    vendor || ':' || device_id as id,
    case when is_lost then '-' else driver_version end as driver,
    pcie(link_speed_gts, link_width) as link_now
from (
    select *, smi_status = 'not listed by nvidia-smi' as is_lost
    from gpu
)
union all
-- What may be a GPU.
select target, null as model, null as id, null as driver, null as link_now
from pci_function
where vendor is null or class is null
