-- Every port's code, how many have a value, how many have none.
select
    list(coalesce(w.code, v.none::integer, 0) order by p.idx),
    count(v.value),
    count(*) filter (v.value is null and v.none)
from page_port as p
left join page_value as v on v.idx = p.idx
left join page_word as w on w.value = v.value
