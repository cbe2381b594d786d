/* +++
id = "intent-mtu"
aliases = ["INTENT.mtu"]
title = "MTU does not match intent"
severity = "medium"
subject = "port"
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev.mtu"]
message = "{subject} has MTU {observed}; intent is {expected}"
action = "set"
setting = "netdev.mtu"
fix = "ip link set NETDEV mtu EXPECTED"
on_path = {packets = ["data", "other"], sides = ["in", "out"]}
since = "0.2"
sources = ["review MTU-01, EFFECTS", "reference B3 (RoCE MTU)", "judgement: severity"]

[uses]
"site.netdev_mtu" = "not checked unless the site file sets it"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"nic_scope.role" = {purpose = "cost"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
+++
## Why it matters
RoCE uses the largest packet payload (256 to 4096 bytes) that fits into the MTU minus 96, and two endpoints agree on the
smaller one: a host with MTU 1500 sends and receives 1024 bytes per packet. A host with a larger MTU than the others sends
IP packets that a switch or a peer drops.

## What to do
Set the MTU in the network configuration (netplan, NetworkManager, ifcfg; for pods also the CNI): on switch ports first,
then on hosts, then on virtual functions and pods. `ip link set NETDEV mtu EXPECTED` takes effect immediately, but restarts
the queues of the device and is lost at reboot. Peers with a different MTU fail until all have changed.

## Exceptions
The site file has one MTU for all compute ports: if rails differ by design, leave it out. On a bond, the MTU of the bond
itself is checked. On InfiniBand, the MTU of IP over InfiniBand is unrelated to the RDMA MTU and is not checked.
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
    -- An MTU above the intended one costs nothing.
    case
        when n.mtu < s.netdev_mtu then cost_gbps(
            w.wire_gbps, e.gbps, g.max_payload,
            wire_write_gbps(p.rate_gbps, rdma_mtu(s.netdev_mtu), w.headers), e.gbps, g.max_payload
        )
        when n.mtu > s.netdev_mtu then 0
    end as cost_gbps
from port_scope as p
cross join site as s
left join netdev as n on n.target = p.target and n.name = p.netdev
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join nic_line as e on e.target = p.target and e.pci = p.pci
left join pci_config as g on g.target = p.target and g.pci = p.pci
