-- What is found and what is unknown at the ends of links. Tables at hand: finding, link_end.

-- A rule speaks of an end, of the RDMA port that it is the end of, or of a machine that said nothing.
create or replace temp table of_end as
select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected
from finding as f
inner join link_end as e on e.target = f.target and e.target || ':' || e.port = f.subject
where f.state = 'open' and f.severity <> 'info'
union all
select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected
from finding as f
inner join link_end as e on e.target = f.target and e.target || ':' || e.device || '/' || e.device_port = f.subject
where f.state = 'open' and f.severity <> 'info' and e.device <> ''
union all
select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected
from finding as f
inner join link_end as e on e.target = f.target and e.target || ':*' = f.subject
where f.state = 'open' and f.severity <> 'info';

create or replace temp table end_said as
select
    target,
    port,
    coalesce(
        list({'rule': rule, 'at': target || ':' || port, 'observed': observed, 'expected': expected} order by rank, rule)
            filter (verdict = 'fail'),
        []
    ) as found,
    coalesce(list(rule order by rank, rule) filter (verdict = 'unknown'), []) as unknown
from of_end
group by target, port;
