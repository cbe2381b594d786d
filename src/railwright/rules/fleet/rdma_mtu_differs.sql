/* +++
id = "MTU-02"
title = "RDMA MTU differs from that of its peers"
severity = "high"
subject = "port"
peers = true
needs = ["port_scope.role", "port_scope.state", "port_scope.cohort", "verbs_port.active_mtu"]
message = "{subject} has an RDMA MTU of {observed}, most of its peers {expected}"
implied_by = ["MTU-01", "INTENT.mtu", "LNK-01"]
since = "0.2"
sources = ["review MTU-02, G-FLEET", "K-PMA: the active MTU is not in sysfs", "incident I-148", "reference B3"]

[uses]
"port_scope.inferred" = {purpose = "severity"}
"port_scope.netdev" = {purpose = "words"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"pcie_endpoint.narrowest_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_members]
default = 8
unit = "active ports of one cohort"
reason = "review G-FLEET: fewer are no group to compare in"
+++
## Why it matters
Two ends with different RDMA MTUs must agree on the smaller one, and software that does not hangs or fails with a local length
error. One host of a pool is enough.

## What to do
Ethernet: give its network device the MTU of the others, after the switch port has it, and write it into netplan,
NetworkManager or the CNI; the device's queues restart, so drain the host. InfiniBand: the subnet manager sets it by
partition.

## When it is wrong
Peers are ports of the same card type, role and kind of host; pools that are meant to differ have roles or kinds of their
own. Network MTUs that differ above 4192 give the same RDMA MTU and are no fault here. Of fewer than eight ports the one that
differs is unknown: who is right cannot be told.
*/
with cohorts as (
    select p.cohort, count(*) as members, mode_known(v.active_mtu) as active_mtu, differ_known(v.active_mtu) as differ
    from port_scope as p
    left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
    where p.state = 'ACTIVE' or p.state is null
    group by p.cohort
)

select
    p.target,
    p.device,
    p.port,
    v.active_mtu as observed,
    c.active_mtu as expected,
    p.role = 'compute' and p.state = 'ACTIVE' and case when p.cohort is not null then c.members >= $least_members or c.differ end as applies,
    case when v.active_mtu = c.active_mtu then false when c.members >= $least_members then v.active_mtu <> c.active_mtu end as fault,
    p.netdev as detail,
    p.inferred,
    -- A larger one than the peers have costs nothing.
    case
        when v.active_mtu < c.active_mtu then cost_gbps(
            w.wire_gbps, e.narrowest_gbps, g.max_payload,
            wire_write_gbps(p.rate_gbps, c.active_mtu, w.headers), e.narrowest_gbps, g.max_payload
        )
        when v.active_mtu > c.active_mtu then 0
    end as cost_gbps,
    case when c.members < $least_members then 'few_peers' end as reason
from port_scope as p
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
left join cohorts as c on c.cohort = p.cohort
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join pcie_endpoint as e on e.target = p.target and e.pci = p.pci
left join nic_payload as g on g.target = p.target and g.pci = p.pci
