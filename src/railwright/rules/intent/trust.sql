/* +++
id = "INTENT.trust"
title = "Trust mode is not what the site wants"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.trust"]
message = "{subject} trusts {observed}, the site wants {expected}"
setting = "nic.trust"
covers = ["QOS-01"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-01", "reference B3"]

[uses]
"site.trust" = "nothing is wanted where the site says nothing"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The NIC sorts packets into priorities by the field it trusts. With the wrong one RoCE rides a class that drops under
load, and PFC never helps it.

## What to do
`mlnx_qos -i NETDEV --trust dscp` on every compute port, and make it persistent: it is lost at reboot.

## When it is wrong
A design that tags RoCE with VLAN priorities trusts pcp: say so in the site file.
*/
select
    p.target,
    p.device,
    p.port,
    p.trust as observed,
    s.trust as expected,
    s.trust is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    p.trust <> s.trust as fault,
    p.netdev as detail,
    p.inferred
from port_qos as p
cross join site as s
