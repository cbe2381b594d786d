/* +++
id = "rdma-mtu-differs"
aliases = ["MTU-02"]
title = "RDMA MTU deviates from peers"
severity = "high"
subject = "port"
peers = true
needs = ["port_scope.role", "port_scope.state", "port_scope.cohort", "verbs_port.active_mtu"]
message = "{subject} has RDMA MTU {observed}; most of its peers have {expected}"
action = "set"
setting = "netdev.mtu"
implied_by = ["rdma-mtu-small", "intent-mtu", "port-down"]
since = "0.2"
sources = ["review MTU-02, G-FLEET", "K-PMA: the active MTU is not in sysfs", "incident I-148", "reference B3"]

[uses]
"port_scope.inferred" = {purpose = "severity"}
"port_scope.netdev" = {purpose = "words"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"nic_scope.role" = {purpose = "cost"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_members]
default = 8
unit = "active ports of one cohort"
reason = "review G-FLEET: fewer do not make a peer group"
+++
## Why it matters
Two endpoints with different RDMA MTUs must agree on the smaller one. Software that does not do this hangs, or fails with a
local length error. One such host in a pool is enough.

## What to do
Ethernet: drain the host, because changing the MTU restarts the device's queues. Set the MTU of the peers on the switch port
first, then on the network device, and make it persistent in netplan, NetworkManager or the CNI. InfiniBand: the subnet
manager sets the MTU per partition.

## Exceptions
Peers are ports with the same card type, role and kind of host; pools that are meant to differ have their own roles or
kinds. Network MTUs that differ above 4192 give the same RDMA MTU and are not a fault here. With fewer than eight ports a
difference is inconclusive: which value is right cannot be determined.
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
            w.wire_gbps, e.gbps, g.max_payload,
            wire_write_gbps(p.rate_gbps, c.active_mtu, w.headers), e.gbps, g.max_payload
        )
        when v.active_mtu > c.active_mtu then 0
    end as cost_gbps,
    case when c.members < $least_members then 'few_peers' end as reason
from port_scope as p
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
left join cohorts as c on c.cohort = p.cohort
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join nic_line as e on e.target = p.target and e.pci = p.pci
left join nic_payload as g on g.target = p.target and g.pci = p.pci
