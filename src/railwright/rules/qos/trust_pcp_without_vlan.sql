/* +++
id = "QOS-01"
title = "NIC sorts packets by a VLAN tag that RoCE does not carry"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.trust", "netdev_qos.pfc_mask",
]
message = "{subject} trusts {observed}, needed is {expected}"
setting = "nic.trust"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-01", "reference B3", "incident I-070", "judgement: untagged packets get priority 0"]

[uses]
"site.trust" = "where the site says what it wants, INTENT.trust judges"
"gid.netdev" = "asked only where the port trusts VLAN priorities"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Somebody made a priority lossless on this port, but the port takes the priority from the VLAN tag, and no GID of the port lies
on a VLAN: every RoCE packet is untagged, gets priority 0, and PFC never helps it.

## What to do
`mlnx_qos -i NETDEV --trust dscp`, and make it persistent: it is lost at reboot. The link stays up. Then check that the DSCP
of RoCE data maps to the lossless priority (QOS-03).

## When it is wrong
Where PFC is on for storage that tags by itself, on the same port. A site file with `trust` settles it: then this rule is
silent. The QoS of a bond is that of its members: one that is wrong is enough.
*/
-- A GID of another netdev than the port's own lies on a VLAN, or on something else that may tag.
with vlan as (
    select g.target, g.device, g.port, any_known(g.netdev <> '' and g.netdev <> p.netdev) as is_tagged
    from gid as g
    inner join port_scope as p on p.target = g.target and p.device = g.device and p.port = g.port
    group by g.target, g.device, g.port
)

select
    p.target,
    p.device,
    p.port,
    p.trust || case when p.trust = 'pcp' and not v.is_tagged then ' and has no VLAN' else '' end
    || ', PFC is on for ' || priorities_of(p.pfc_mask) as observed,
    'dscp, or VLANs for RoCE' as expected,
    s.trust is null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and p.pfc_mask <> 0 as applies,
    -- With PFC on for priority 0 untagged packets are lossless as well.
    case p.trust when 'pcp' then (p.pfc_mask & 1) = 0 and not v.is_tagged when 'dscp' then false end as fault,
    p.netdev as detail,
    p.inferred
from port_qos as p
cross join site as s
left join vlan as v on v.target = p.target and v.device = p.device and v.port = p.port
