-- What is wrong and not waived: what a plan is for.
select
    rule,
    severity,
    rank,
    target,
    subject,
    observed,
    expected,
    cost_gbps,
    kind,
    device,
    port,
    netdev,
    pci,
    switch_port,
    link_partner,
    rail
from placed
where verdict = 'fail' and state in ('open', 'implied')
