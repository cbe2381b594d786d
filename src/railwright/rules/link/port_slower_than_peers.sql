/* +++
id = "port-slower-than-peers"
aliases = ["LNK-02"]
title = "Port slower than peers or than before"
severity = "high"
subject = "port"
peers = true
needs = ["port_scope.role", "port_scope.state", "port_scope.rate_gbps", "port_scope.cohort"]
message = "{subject} runs at {observed}; expected {expected}"
action = "ask"
implied_by = ["port-down"]
since = "0.2"
sources = ["review LNK-02, G-FLEET, G-CAUSE", "incident I-080"]

[uses]
"reference.slowest_gbps" = "a port is also compared with its own past; if that is unknown, with its peers only"
"reference.snapshot" = {purpose = "words"}
"slot.slot" = "identifies the past of this slot"
"slot.part" = "a different card has no past"
"reference.part" = "the same"
"port_scope.rate_dispute" = {purpose = "words"}
"host_scope.port_rate_gbps" = "if the class sets a rate, intent-port-rate checks it instead"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"nic_scope.role" = {purpose = "cost"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_members]
default = 4
unit = "active ports of one cohort"
reason = "judgement: three are too few to say who is right; one host with four NICs is enough"
+++
## Why it matters
The job runs, but slower: a collective waits for its slowest rail. Nothing in the job's output shows the cause.

## What to do
Check both link partners: admin speed and breakout of the switch port, lanes, FEC and autonegotiation (`mlxlink -d PCI -m`).
A cable or module of an older generation also limits the port. Forcing a speed bounces the link, and it stays down if the
two ends differ: change both in one maintenance window. Set the rate in the site file (`[[class]] port_rate_gbps`): the port
is then compared with that.

## Exceptions
Peers are ports of the same card type, role and host class. If half of the fleet has split or multi-plane ports, define a
class for it in the site file. If most of the fleet is slow, the few correct ports are not reported here. A port that was
slowed on purpose is reported until the site file sets its rate. If fewer than four ports are alike and their rates differ,
the slower ones are inconclusive: which rate is right cannot be determined. Fewer than four that all run at one rate are not
checked, unless an earlier snapshot has them faster. A port that trained at a lower rate keeps its role and its peers.
*/
with cohorts as (
    select
        cohort,
        count(*) as members,
        case when count(*) >= $least_members then mode_known(case when state = 'ACTIVE' then rate_gbps end) end as rate_gbps,
        differ_known(case when state = 'ACTIVE' then rate_gbps end) as differ,
        max(rate_gbps) as fastest_gbps, -- null: one that was not read may be faster, so this only makes it unknown
        count(rate_gbps) = count(*) and count(state) = count(*) as is_whole
    from port_scope
    where state = 'ACTIVE' or state is null
    group by cohort
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
        when b.slowest_gbps > c.rate_gbps or (c.members < $least_members and p.rate_gbps < b.slowest_gbps)
            then printf('%g Gb/s, as in snapshot %s', b.slowest_gbps, b.snapshot)
        when c.members < $least_members then printf('%g Gb/s, as the fastest of %d like it', c.fastest_gbps, c.members)
        else printf('%g Gb/s, like most of its peers', c.rate_gbps)
    end as expected,
    -- The rate of a port that is not active is a placeholder.
    h.port_rate_gbps is null and p.role = 'compute' and p.state = 'ACTIVE'
        and case when p.cohort is not null then c.members >= $least_members or c.differ or b.pci is not null end as applies,
    case
        when p.rate_gbps < b.slowest_gbps then true
        when c.members >= $least_members then p.rate_gbps < c.rate_gbps
        -- Too few to say which is right: only the fastest is surely not slower than it should be.
        when c.differ then case when c.is_whole and p.rate_gbps = c.fastest_gbps then false end
        when p.cohort is not null then p.rate_gbps < b.slowest_gbps
    end as fault,
    'peers: ' || p.cohort as detail,
    p.inferred,
    cost_gbps(
        w.wire_gbps, e.gbps, g.max_payload,
        wire_write_gbps(greatest(c.rate_gbps, b.slowest_gbps), w.mtu, w.headers), -- null: one of them is enough
        e.gbps, g.max_payload
    ) as cost_gbps,
    case when p.rate_dispute <> '' then 'sources_differ' when c.members < $least_members and c.differ and c.is_whole then 'few_peers' end as reason
from port_scope as p
left join host_scope as h on h.target = p.target
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join nic_line as e on e.target = p.target and e.pci = p.pci
left join nic_payload as g on g.target = p.target and g.pci = p.pci
left join cohorts as c on c.cohort = p.cohort
left join past as b on b.target = p.target and b.pci = p.pci
