-- Probes that were not answered on machines that were reached, in groups of the same.
select r.status, r.probe, list(distinct r.target order by r.target), coalesce(min(r.reason), '')
from probe_result as r
inner join target as t using (target)
where list_contains($gaps::varchar[], r.status) and t.status = 'reached'
group by r.status, r.probe
order by r.status, r.probe
