-- Answers of a host that told nothing, and how many of each.
select status, coalesce(reason, ''), probe, count(*)
from (
    select *, bool_or(status = 'ok') over (partition by probe) as is_told
    from probe_result
    where target = $target
)
-- A management port without DCB is no gap where the RDMA ports have answered.
where status <> 'ok' and not (status = 'absent' and is_told)
group by all
order by all
