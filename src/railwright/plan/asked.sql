-- What is wrong, not waived, and follows from nothing else that is found: what a plan is for.
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
where verdict = 'fail' and state = 'open'
