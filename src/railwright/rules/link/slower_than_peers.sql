/* +++
id = "LNK-02"
title = "Port runs slower than its peers, or than before"
severity = "high"
subject = "port"
peers = true
needs = ["port_scope.role", "port_scope.state", "port_scope.rate_gbps", "port_scope.cohort"]
message = "{subject} runs at {observed}; expected: {expected}"
implied_by = ["LNK-01"]
since = "0.2"
sources = ["review LNK-02, G-FLEET, G-CAUSE", "incident I-080"]

[uses]
"reference.slowest_gbps" = "a port is held to its own past, too; where that is not known, to its peers alone"
"reference.snapshot" = {purpose = "words"}
"slot.slot" = "whose past it is"
"slot.part" = "another card has no past"
"reference.part" = "the same"
"port_scope.rate_dispute" = {purpose = "words"}
"host_scope.port_rate_gbps" = "where the class says a rate, INTENT.port_rate judges"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"pcie_endpoint.narrowest_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_members]
default = 4
unit = "active ports of one cohort"
reason = "judgement: three are no group, one of them may be the only one that is right; one host with four NICs is enough"
+++
## Why it matters
The job runs, slower: a collective waits for its slowest rail. Nothing in the job's output says why.

## What to do
Look at both ends: admin speed and breakout of the switch port, lanes, FEC and autonegotiation (`mlxlink -d PCI -m`). A cable
or module of an older generation limits the port as well. Forcing a speed bounces the link, and it stays down if the ends
differ: change both in one window. Say the rate in the site file (`[[class]] port_rate_gbps`): then it is held against that.

## When it is wrong
Peers are ports of the same card type, role and class of host. Split or multi-plane ports of one half of the fleet are a
class of their own: name it. If most of the fleet is slow, the few right ones are not named here. A port that was slowed on
purpose is named until the site file says its rate.
*/
with cohorts as (
    select cohort, count(*) as members, mode_known(case when state = 'ACTIVE' then rate_gbps end) as rate_gbps
    from port_scope
    where state = 'ACTIVE' or state is null
    group by cohort
    having count(*) >= $least_members
),

past as (
    select s.target, s.pci, r.slowest_gbps, r.snapshot
    from slot as s
    inner join reference as r on r.target = s.target and r.slot = s.slot and r.part = s.part
    where r.slowest_gbps is not null
)

select
    p.target,
    p.device,
    p.port,
    printf('%g Gb/s', p.rate_gbps) as observed,
    case
        when b.slowest_gbps > c.rate_gbps or c.cohort is null
            then printf('%g Gb/s, as in snapshot %s', b.slowest_gbps, b.snapshot)
        else printf('%g Gb/s, as most of its peers have', c.rate_gbps)
    end as expected,
    -- The rate of a port that is not active is a placeholder.
    h.port_rate_gbps is null and p.role = 'compute' and p.state = 'ACTIVE'
        and case when p.cohort is not null then c.cohort is not null or b.pci is not null end as applies,
    case
        when p.rate_gbps < b.slowest_gbps then true
        when c.cohort is not null then p.rate_gbps < c.rate_gbps
        when p.cohort is not null then p.rate_gbps < b.slowest_gbps
    end as fault,
    p.cohort as detail,
    p.inferred,
    cost_gbps(
        w.wire_gbps, e.narrowest_gbps, g.max_payload,
        wire_write_gbps(greatest(c.rate_gbps, b.slowest_gbps), w.mtu, w.headers), -- null: one of them is enough
        e.narrowest_gbps, g.max_payload
    ) as cost_gbps,
    case when p.rate_dispute <> '' then 'sources_differ' end as reason
from port_scope as p
left join host_scope as h on h.target = p.target
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join pcie_endpoint as e on e.target = p.target and e.pci = p.pci
left join nic_payload as g on g.target = p.target and g.pci = p.pci
left join cohorts as c on c.cohort = p.cohort
left join past as b on b.target = p.target and b.pci = p.pci
