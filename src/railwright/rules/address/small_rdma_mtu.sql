/* +++
id = "MTU-01"
title = "RDMA MTU below 4096 on a compute port"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.state",
    "netdev.mtu", "verbs_port.active_mtu",
]
message = "{subject} has {observed}; {expected} is usual"
implied_by = ["LNK-01", "INTENT.mtu"]
cost = "about 5 % of all-reduce bandwidth at MTU 1500 (incident I-149)"
since = "0.2"
sources = ["review MTU-01", "incident I-149", "reference B3", "Linux include/rdma/ib_addr.h: iboe_get_mtu"]

[unless]
"netdev.mtu" = "the port is InfiniBand, or its network device is in a pod"
"verbs_port.active_mtu" = "the port is Ethernet and has a network device"

[uses]
"port_scope.netdev" = "asked on Ethernet only"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.rate_gbps" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"pcie_endpoint.narrowest_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}

[parameters.least_netdev_mtu]
default = 4192
unit = "bytes"
reason = "reference B3: 4096 of RDMA and 96 of headers; 4200 is NVIDIA's rounder advice"

[parameters.least_rdma_mtu]
default = 4096
unit = "bytes"
reason = "the largest that RDMA knows"
+++
## Why it matters
The RDMA MTU is the largest of 256 to 4096 that fits the network device's MTU less 96 bytes: 1500 gives 1024. A driver can
also have kept the size of before. Four times as
many packets carry the same data, with four times the headers and the work. Two ends with different MTUs use the smaller,
and some software fails on it.

## What to do
Ethernet: raise the MTU on the switch ports first, then on the hosts, then on virtual functions and in pods, and write it
into netplan, NetworkManager or the CNI. It restarts the device's queues; peers with the old MTU fail until all are
changed: drain the pool. InfiniBand: the subnet manager sets it, by partition; look at `mtu` in partitions.conf.

## When it is wrong
A fabric that tunnels, or shares switches with smaller frames, may be built for less. What a VLAN device or a pod on top of
the port has is not seen here; it cannot have more than the port.
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
        w.wire_gbps, e.narrowest_gbps, g.max_payload,
        wire_write_gbps(p.rate_gbps, $least_rdma_mtu, w.headers), e.narrowest_gbps, g.max_payload
    ) as cost_gbps
from port_scope as p
left join netdev as n on n.target = p.target and n.name = p.netdev
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join pcie_endpoint as e on e.target = p.target and e.pci = p.pci
left join pci_config as g on g.target = p.target and g.pci = p.pci
