-- Whether a probe answered, by the thing that it was asked about; '' where it is asked once. A switch's answers are those of its commands.
create temp table answer as
with said as (
    select 'before' as side, target, probe, instance, status = 'ok' as ok
    from before.probe_result semi join differing_target using (target)
    union all
    select 'now' as side, target, probe, instance, status = 'ok' as ok
    from now.probe_result semi join differing_target using (target)
)

select s.side, s.target, s.probe, coalesce(n.identity, s.instance) as thing, bool_or(s.ok) as ok
from said as s
left join named as n on n.side = s.side and n.target = s.target and n.kind = 'netdev' and n.name = s.instance
group by all
