/* +++
id = "intent-trust"
aliases = ["INTENT.trust"]
title = "Trust mode does not match intent"
severity = "high"
subject = "port"
several = true
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "netdev_qos.trust"]
message = "{subject} trusts {observed}; intent is {expected}"
action = "set"
setting = "nic.trust"
fix = "mlnx_qos -i NETDEV --trust EXPECTED"
covers = ["QOS-01"]
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-01", "reference B3"]

[uses]
"site.trust" = "not checked unless the site file sets it"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The NIC sorts packets into priorities by the field that it trusts. With the wrong field, RoCE runs in a class that drops
under load, and PFC never helps it.

## What to do
1. Run `mlnx_qos -i NETDEV --trust EXPECTED` (`dscp` or `pcp`, as in the site file) on every compute port.
2. Make it persistent: it survives a driver reload, but not a reboot. Cards that have `QOS_TRUST_STATE_P1` keep it in
   firmware.

## Exceptions
If the design tags RoCE with VLAN priorities, set `trust = "pcp"` in the site file. Only ports of hosts are checked here, and
NICs know dscp or pcp. A switch port with trust `pcp,dscp` counts as dscp: `link-lossless-differs` compares it.
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
