-- Open findings with the machine, the leaf and the rail that they belong to. What is said of a whole host belongs to the leaf
-- or the rail that all its ports have in common.
with whole as (
    select e.target, the_only(e.peer) as leaf
    from link_end as e
    where e.kind = 'host' and e.peer <> '' and e.peer_kind <> 'host'
    group by e.target
),

rails as (
    select target, the_only(rail) as rail
    from site_port
    group by target
    having count(rail) = count(*)
),

followed as (
    select cause, cause_subject, count(*) as others
    from finding
    where state = 'implied'
    group by cause, cause_subject
)

select
    f.target as host,
    case when t.kind = 'switch' then f.target when p.kind is distinct from 'host' then coalesce(f.partner, w.leaf) end as leaf,
    coalesce(f.rail, case when f.device is null then r.rail end, nullif(s.rail, -1)) as rail,
    f.rule,
    f.severity,
    f.rank,
    f.observed,
    f.expected,
    f.detail,
    f.cost_gbps,
    coalesce(o.others, 0),
    f.subject,
    f.kind,
    f.device,
    f.port,
    f.netdev,
    f.pci,
    f.switch_port,
    f.part,
    f.rail,
    f.link_partner,
    f.partner_device
from placed as f
left join target as t on t.target = f.target
left join target as p on p.target = f.partner
left join whole as w on w.target = f.target
left join rails as r on r.target = f.target
left join switch_place as s on s.target = f.target and f.switch_port is null
left join followed as o on o.cause = f.rule and o.cause_subject = f.subject
where f.verdict = 'fail' and f.state = 'open'
order by f.rank, f.cost_gbps desc nulls last, f.rule, f.subject
