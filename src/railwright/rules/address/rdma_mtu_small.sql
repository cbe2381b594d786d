/* +++
id = "rdma-mtu-small"
aliases = ["MTU-01"]
title = "RDMA MTU below 4096"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.state",
    "netdev.mtu", "verbs_port.active_mtu",
]
message = "{subject} has {observed}; {expected} is usual"
action = "set"
setting = "netdev.mtu"
implied_by = ["port-down", "intent-mtu"]
cost = "about 5 % of all-reduce bandwidth at MTU 1500 (incident I-149)"
since = "0.2"
sources = ["review MTU-01", "incident I-149", "reference B3", "Linux include/rdma/ib_addr.h: iboe_get_mtu"]

[unless]
"netdev.mtu" = "the port is InfiniBand, or its network device is in a pod"
"verbs_port.active_mtu" = "the port is Ethernet and has a network device"

[uses]
"port_scope.netdev" = "used on Ethernet only"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.rate_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"nic_scope.role" = {purpose = "cost"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_netdev_mtu]
default = 4192
unit = "bytes"
reason = "reference B3: 4096 of RDMA plus 96 of headers; NVIDIA recommends a round 4200"

[parameters.least_rdma_mtu]
default = 4096
unit = "bytes"
reason = "the largest that RDMA supports"
+++
## Why it matters
The RDMA MTU is the largest size from 256 to 4096 that fits the network device's MTU minus 96 bytes: MTU 1500 gives 1024. A
driver may also have kept the previous size. At 1024, the same data needs four times as many packets, with four times the
headers and the work. Two peers with different MTUs use the smaller one, and some software fails on the mismatch.

## What to do
On InfiniBand, the subnet manager sets the MTU per partition: check `mtu` in partitions.conf. On Ethernet, if the network
device already has its MTU and only the RDMA MTU has not followed, take the port down and up. Otherwise:
1. Drain the pool: peers with the old MTU fail until all are changed.
2. Raise the MTU on the switch ports first, then on the hosts, then on virtual functions and in pods. This restarts the
   device's queues.
3. Make it persistent in netplan, NetworkManager or the CNI.

## Exceptions
A fabric that uses tunnels, or shares switches with smaller frames, may be designed for less: waive the finding. The MTU of
a VLAN device or a pod on top of the port is not checked; it cannot exceed the port's.
*/
select
    p.target,
    p.device,
    p.port,
    case p.link_layer
        when 'Ethernet' then case
            when n.mtu < $least_netdev_mtu then 'MTU ' || n.mtu || ' on its network device, so RDMA MTU '
                || list_max(list_filter([256, 512, 1024, 2048, 4096], lambda size: size + 96 <= n.mtu)) -- null: numbers of ours
            else 'RDMA MTU ' || v.active_mtu || case when n.mtu is null then '' else ' with MTU ' || n.mtu || ' on its network device' end
        end
        else 'RDMA MTU ' || v.active_mtu
    end as observed,
    case
        when p.link_layer = 'Ethernet' and n.mtu < $least_netdev_mtu then 'MTU ' || $least_netdev_mtu || ' or more'
        else 'RDMA MTU ' || $least_rdma_mtu
    end as expected,
    p.role = 'compute' and p.state = 'ACTIVE' as applies,
    -- IP over InfiniBand has an MTU of its own, which says nothing about RDMA.
    case
        when v.active_mtu < $least_rdma_mtu then true
        when p.link_layer = 'Ethernet' and n.mtu < $least_netdev_mtu then true
        when p.link_layer = 'Ethernet' and p.netdev <> '' then n.mtu < $least_netdev_mtu
        when p.link_layer is not null then v.active_mtu < $least_rdma_mtu
    end as fault,
    p.netdev as detail,
    p.inferred,
    cost_gbps(
        w.wire_gbps, e.gbps, g.max_payload,
        wire_write_gbps(p.rate_gbps, $least_rdma_mtu, w.headers), e.gbps, g.max_payload
    ) as cost_gbps
from port_scope as p
left join netdev as n on n.target = p.target and n.name = p.netdev
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join nic_line as e on e.target = p.target and e.pci = p.pci
left join pci_config as g on g.target = p.target and g.pci = p.pci
