-- Probes that fail in the same way on the same hosts are one row. Sets of hosts are compared by size and hash: a list of all for
-- each probe would not fit into memory.
with gaps as (
    select distinct probe, status as answer, target
    from gap
    where status <> 'not reached'
),

failed as (
    select probe, status as answer, mode(reason) as said, count(distinct reason) as different
    from gap
    where status <> 'not reached'
    group by probe, status
),

hosts as (
    select probe, answer, count(*) as number, bit_xor(hash(target)) as mark
    from gaps
    group by probe, answer
),

alike as (
    select answer, said, different, min(probe) as probe, string_agg(probe, ', ' order by probe) as probes
    from failed
    inner join hosts using (probe, answer)
    group by answer, said, different, number, mark
)

select
    answer,
    probes || case said when '' then '' else ': ' end || said,
    different,
    list(target order by target) as targets
from alike
inner join gaps using (probe, answer)
group by answer, probes, said, different
order by len(targets) desc, 1, 2
