-- Each value with the ports that have it; of the commonest, which stands first, no ports are told.
with groups as (
    select value, coalesce(none, false) and value is null as is_none, count(*) as ports
    from page_value
    group by all
),

commonest as (
    select value, is_none
    from groups
    order by ports desc, value nulls last, is_none
    limit 1
),

others as (
    select v.value, coalesce(v.none, false) and v.value is null as is_none, list(v.idx) as places
    from page_value as v
    anti join commonest as c on c.value is not distinct from v.value and c.is_none = (coalesce(v.none, false) and v.value is null)
    group by all
)

select g.value, g.is_none, g.ports, o.places
from groups as g
left join others as o on o.value is not distinct from g.value and o.is_none = g.is_none
order by o.places is not null
