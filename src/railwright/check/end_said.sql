-- What is found and what is unknown at the ends of links. Tables at hand: finding, link_end, stopped_rule.

-- A rule speaks of an end, of the RDMA port that it is the end of, or of a machine that said nothing. What one would have said
-- that could not be run, nobody knows of any end.
create or replace temp table of_end as
with open_finding as (
    from finding where state = 'open' and (verdict = 'unknown' or severity <> 'info')
),

-- A bond's RDMA port has an end for each member; what is found at some of them (the rule's detail names these) is theirs.
member as (
    select target, device || '/' || device_port as port_name, list(port) as ports
    from link_end
    where device <> ''
    group by all
    having count(*) > 1
)

select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected, f.detail
from open_finding as f
inner join link_end as e on e.target = f.target and e.target || ':' || e.port = f.subject
union all
select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected, f.detail
from open_finding as f
inner join link_end as e on e.target = f.target and e.target || ':' || e.device || '/' || e.device_port = f.subject
left join member as m on m.target = e.target and m.port_name = e.device || '/' || e.device_port
where
    e.device <> ''
    and (
        m.ports is null
        or f.detail is null
        or not list_has_any(m.ports, string_split(f.detail, ', '))
        or list_contains(string_split(f.detail, ', '), e.port)
    )
union all
select e.target, e.port, f.rule, f.rank, f.verdict, f.observed, f.expected, f.detail
from open_finding as f
inner join link_end as e on e.target = f.target and e.target || ':*' = f.subject
union all
-- A machine that said nothing has no ends of its own: those that others hear there.
select e.peer, e.peer_port, f.rule, f.rank, f.verdict, f.observed, f.expected, f.detail
from open_finding as f
inner join link_end as e on e.peer = f.target and f.subject = f.target || ':*'
where e.peer_port <> '' and e.peer not in (select target from link_end)
union all
select e.target, e.port, s.rule, 0 as rank, 'unknown' as verdict, null as observed, null as expected, null as detail
from stopped_rule as s
cross join link_end as e;

create or replace temp table end_said as
select
    target,
    port,
    coalesce(
        list({'rule': rule, 'at': target || ':' || port, 'observed': observed, 'expected': expected, 'detail': detail} order by rank, rule)
            filter (verdict = 'fail'),
        []
    ) as found,
    coalesce(list(distinct rule order by rule) filter (verdict = 'unknown'), []) as unknown
from of_end
group by target, port;
