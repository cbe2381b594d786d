-- Of each rule that found something one place.
select distinct on (rule) rule, target, device, partner, rank
from placed
where verdict = 'fail' and state = 'open' and severity <> 'info'
order by rank, rule, subject
