-- Ports of hosts that a finding is about, with the leaf that they are at.
select f.rule, row(e.target || ':' || e.device, a.peer, a.peer_port, p.rail, p.plane), f.observed, f.expected, f.detail
from finding as f
semi join rail_rule as r on r.rule = f.rule
inner join own_end as e
    on
        e.target = f.target
        and (
            f.subject = e.target || ':' || e.port
            or f.subject = e.target || ':' || e.device || '/' || e.device_port
        )
inner join site_port as p on p.target = e.target and p.device = e.device and p.port = e.device_port
inner join adjacency as a on a.target = e.target and a.port = e.port
where
    f.verdict = 'fail'
    and f.rule <> 'neighbors-disagree'
    and f.state = 'open'
    and f.severity <> 'info'
    and e.kind = 'host'
    and a.peer <> ''
order by f.rank, e.target, e.device, f.rule
