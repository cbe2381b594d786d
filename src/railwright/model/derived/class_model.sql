-- The model of every host by its DMI, '' where that names none, and why. Filled in are the columns without placeholders, and
-- what hardware/machine_names makes of them.
select
    target,
    vendor,
    case when {is_cloud} then '' else model end as model,
    case
        when {is_cloud} then 'its DMI names a virtual machine'
        when model = '' then 'its DMI names no model'
        else ''
    end as lack
from (
    select *, {model} as model
    from (select target, {vendor} as vendor, {product} as product, {board} as board from dmi)
)
