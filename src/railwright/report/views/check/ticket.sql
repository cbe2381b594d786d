-- Open findings for a ticket, rule by rule: those that say the same are one row.
select rule, severity, observed, expected, count(*), list(distinct target)
from finding
where verdict = 'fail' and state = 'open'
group by rule, severity, rank, observed, expected
order by min(rank) over (partition by rule), rule, rank, count(*) desc, observed, expected
