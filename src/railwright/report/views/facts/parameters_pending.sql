select
    k.target,
    case when k.digest is not null then coalesce(parameter(p.name, p.port, p.element), 'none') end as parameter,
    case when k.digest is not null then coalesce(p.current_text, '') end as now,
    case when k.digest is not null then coalesce(p.next_text, '') end as later
from asked_card as k
left join (
    from kind_parameter
    where coalesce(current_code <> next_code, current_text <> next_text)
) as p on p.digest = k.digest
