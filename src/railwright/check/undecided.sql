-- Of how many ports nobody can tell where they belong. Beside what rules cannot tell: the ports of leaves with several rails
-- where no rule has anything to say at all, because there is no plan and peers are too few or follow no pattern. A leaf with
-- one rail alone raises no question. Tables at hand: finding, verdict, target,
-- own_end, adjacency, site_port, rail_rule.
with named as (
    select
        e.target,
        e.target || ':' || e.port as by_netdev,
        e.target || ':' || e.device || '/' || e.device_port as by_port,
        a.peer as leaf,
        row(p.rail, p.plane) as rail
    from own_end as e
    inner join adjacency as a using (target, port)
    inner join site_port as p on p.target = e.target and p.device = e.device and p.port = e.device_port
    where e.kind = 'host' and p.role = 'compute' and a.peer_kind in ('switch', 'stranger')
),

mixed as (
    select leaf from named group by leaf having count(distinct rail) > 1
),

open_port as (
    select by_port as subject
    from named
    where leaf in (from mixed)
        and not exists (select 1 from verdict where rule in (from rail_rule) and rule <> 'neighbors-disagree' and verdict <> 'not applicable')
    union
    select case when t.status in ('reached', 'incomplete') then coalesce(n.by_port, f.subject) else t.target || ':*' end as subject
    from finding as f
    semi join rail_rule as r on r.rule = f.rule
    inner join target as t on t.target = f.target and t.kind = 'host'
    left join named as n on f.subject in (n.by_netdev, n.by_port)
    where f.verdict = 'unknown' and f.state = 'open' and f.rule <> 'neighbors-disagree'
    union
    -- Two ends that contradict each other: it is at the one leaf or at the other.
    select n.by_port
    from finding as f
    inner join named as n on f.subject = n.by_netdev
    where f.rule = 'neighbors-disagree' and f.verdict = 'fail' and f.severity = 'medium' and f.state in ('open', 'implied')
)

-- Of a machine that was not read nobody knows its ports: it counts as one.
select count(*) filter (not ends_with(subject, ':*')), count(*) filter (ends_with(subject, ':*')) from open_port
