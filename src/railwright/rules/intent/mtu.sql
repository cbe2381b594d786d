/* +++
id = "INTENT.mtu"
title = "MTU of a compute port is not what the site wants"
severity = "medium"
subject = "port"
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev.mtu"]
message = "{subject} has an MTU of {observed}, the site wants {expected}"
setting = "netdev.mtu"
on_path = {packets = ["data", "other"], sides = ["in", "out"]}
since = "0.2"
sources = ["review MTU-01, EFFECTS", "reference B3 (RoCE MTU)", "judgement: severity"]

[uses]
"site.netdev_mtu" = "nothing is wanted where the site says nothing"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"pcie_endpoint.narrowest_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
+++
## Why it matters
RoCE packets hold the largest of 256 to 4096 bytes that the MTU less 96 allows, and two ends agree on the smaller one: one
host with 1500 sends and gets 1024 bytes a packet. A host above the others sends IP packets that a switch or a peer drops.

## What to do
Set it where the network is configured (netplan, NetworkManager, ifcfg; for pods also the CNI), switch ports first, then
hosts, then virtual functions and pods. `ip link set NETDEV mtu N` takes hold at once but restarts the queues of the device,
and is lost at reboot. Peers with another MTU fail until all have changed.

## When it is wrong
The site file has one MTU for all compute ports: where rails differ by design, leave it out. Of a bond the bond's own MTU is
judged. On InfiniBand the MTU of IP over InfiniBand has nothing to do with that of RDMA, and is not judged.
*/
select
    p.target,
    p.device,
    p.port,
    n.mtu as observed,
    s.netdev_mtu as expected,
    s.netdev_mtu is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    n.mtu <> s.netdev_mtu as fault,
    p.netdev as detail,
    p.inferred,
    -- An MTU above the wanted one costs nothing.
    case
        when n.mtu < s.netdev_mtu then cost_gbps(
            w.wire_gbps, e.narrowest_gbps, g.max_payload,
            wire_write_gbps(p.rate_gbps, rdma_mtu(s.netdev_mtu), w.headers), e.narrowest_gbps, g.max_payload
        )
        when n.mtu > s.netdev_mtu then 0
    end as cost_gbps
from port_scope as p
cross join site as s
left join netdev as n on n.target = p.target and n.name = p.netdev
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join pcie_endpoint as e on e.target = p.target and e.pci = p.pci
left join pci_config as g on g.target = p.target and g.pci = p.pci
