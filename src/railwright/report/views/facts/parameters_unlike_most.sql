select
    k.target,
    case when k.digest is not null then coalesce(o.parameter, 'none') end as parameter,
    case when k.digest is not null then coalesce(o.here, '') end as here,
    case when k.digest is not null then coalesce(o.most, '') end as most
from asked_card as k
left join odd_parameter as o on o.part_number = k.part_number and o.digest = k.digest
