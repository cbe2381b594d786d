/* +++
id = "rdma-damaged-packets"
aliases = ["CNT-02"]
title = "ICRC errors on received RoCE packets"
severity = "high"
subject = "port"
needs = [
  "port_scope.link_layer", "port_scope.role", "rdma_counter.value", "before.rdma_counter.value", "host.boot_id",
  "before.host.boot_id",
]
message = "{subject} received {observed} with a bad ICRC"
action = "replace"
baseline = true
since = "0.2"
sources = ["review CNT-02, G-WINDOW", "reference B5", "incident I-072"]

[uses]
"port_scope.netdev" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}

[grades]
high = "more than packets_per_hour, counted over an hour at least"
medium = "fewer"

[parameters.packets_per_hour]
default = 10
unit = "1/h, and more than that in all"
reason = "review CNT-02: one in days is not urgent, more than ten an hour is"
+++
## Why it matters
RoCE's own checksum (ICRC) covers a packet from NIC to NIC. The checksum of every link was good and this one is not: the
packet was corrupted *inside* a switch or a NIC. It is dropped and retransmitted. The ICRC is the last protection of the
data.

## What to do
Find the hop that all receivers with this fault have in common: the memory of a switch, or a sending NIC. Take it out of the
path and have it replaced. A cable is rarely the cause.

## Exceptions
Anything on the path that rewrites RoCE packets without a new checksum (tunnels, mirrors, address translation) causes the
same count. Both snapshots must be from the same boot.
*/
select
    p.target,
    p.device,
    p.port,
    r.rise || case when r.rise = 1 then ' packet' else ' packets' end || printf(' in %.1f hours', r.seconds / 3600) as observed,
    'none' as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') as applies,
    r.rise > 0 as fault,
    p.netdev as detail,
    p.inferred,
    case when r.rise > $packets_per_hour * at_least(r.seconds / 3600, 1) then 'high' else 'medium' end as severity
from port_scope as p
left join rdma_rise as r
    on r.target = p.target and r.device = p.device and r.port = p.port and r.counter = 'rx_icrc_encapsulated'
