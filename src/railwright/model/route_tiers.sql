select t.target, p.tier
from target as t
left join switch_place as p on p.target = t.target
where t.kind = 'switch'
order by t.target
