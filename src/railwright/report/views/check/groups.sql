-- The open findings of a rule: those that say the same are one row, with the place of one of them.
with alike as (
    select severity, rank, observed, expected, count(*) as subjects, min(subject) as example, list(distinct target) as targets
    from placed
    where verdict = 'fail' and state = 'open' and rule = $rule
    group by all
)

select
    a.severity,
    a.observed,
    a.expected,
    a.subjects,
    a.example,
    a.targets,
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
from alike as a
inner join placed as e on e.verdict = 'fail' and e.rule = $rule and e.subject = a.example
order by a.rank, a.subjects desc, a.observed, a.expected
