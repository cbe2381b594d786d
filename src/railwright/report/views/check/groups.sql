-- The open findings of a rule: those that say the same are one row.
select severity, observed, expected, count(*)::bigint, min(subject), list(distinct target)
from finding
where verdict = 'fail' and state = 'open' and rule = $rule
group by all
order by min(rank), count(*) desc, 2, 3
