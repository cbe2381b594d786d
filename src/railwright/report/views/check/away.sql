-- Machines that are out of service, also those of which no rule has anything to say, with what only they could have told.
select
    t.out_of_service,
    t.status,
    list(distinct t.target),
    count(*) filter (f.verdict = 'fail')::bigint,
    count(*) filter (f.verdict = 'unknown')::bigint
from target as t
left join finding as f on f.excluded_with = t.target and f.state = 'out of service'
where t.out_of_service <> '' and (t.target in (from asked_target) or (select count(*) from asked_target) = 0)
group by t.out_of_service, t.status
order by count(distinct t.target) desc, 1, 2
