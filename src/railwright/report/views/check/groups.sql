-- The open findings of a rule: those that say the same are one group, with the place of one of them; of a few, of each.
with alike as (
    select
        severity,
        rank,
        observed,
        expected,
        count(*) as subjects,
        case when count(*) <= $few then list(subject order by subject) else [min(subject)] end as examples,
        list(distinct target) as targets
    from placed
    where verdict = 'fail' and state = 'open' and rule = $rule
    group by severity, rank, observed, expected
),

named as (
    select * exclude (examples), unnest(examples) as example from alike
)

select
    a.severity,
    a.observed,
    a.expected,
    a.subjects,
    a.targets,
    a.example,
    e.expected,
    e.detail,
    e.target,
    e.kind,
    e.device,
    e.port,
    e.netdev,
    e.pci,
    e.switch_port,
    e.part,
    e.rail,
    e.link_partner,
    e.partner_device
from named as a
inner join placed as e on e.verdict = 'fail' and e.rule = $rule and e.subject = a.example
order by a.rank, a.subjects desc, a.observed, a.expected, a.example
