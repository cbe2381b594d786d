-- Probes of which the same commands answered in both: of others, a missing row says nothing.
create temp table same_answers as
with said as (
    select target, probe, list(thing order by thing) filter (side = 'before' and ok) as b, list(thing order by thing) filter (side = 'now' and ok) as n
    from answer
    group by all
)

select target, probe
from said
where b = n
