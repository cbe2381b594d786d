/* +++
id = "trust-pcp-untagged"
aliases = ["QOS-01"]
title = "NIC trusts PCP but RoCE is untagged"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.trust", "netdev_qos.pfc_mask",
]
message = "{subject} trusts {observed}; expected {expected}"
action = "set"
setting = "nic.trust"
fix = "mlnx_qos -i NETDEV --trust dscp"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-01", "reference B3", "incident I-070", "judgement: untagged packets get priority 0"]

[uses]
"site.trust" = "if the site file sets it, intent-trust checks it instead"
"gid.netdev" = "read only if the port trusts VLAN priorities"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
PFC is on for a priority of this port, but the port takes the priority from the VLAN tag, and no GID of the port is on a
VLAN. Every RoCE packet is untagged, gets priority 0, and PFC never helps it.

## What to do
1. Run `mlnx_qos -i NETDEV --trust dscp`. The link stays up.
2. Make it persistent: it survives a driver reload, but not a reboot. Cards that have `QOS_TRUST_STATE_P1` keep it in
   firmware.
3. Check that the DSCP of RoCE data maps to the lossless priority (`data-dscp-lossy`).

## Exceptions
If PFC is on for storage that tags its own packets on the same port, waive the finding. If the site file sets `trust`,
this rule does not apply. On a bond, the members are checked: one wrong member is enough for a finding.
*/
-- A GID of a netdev other than the port's own is on a VLAN, or on something else that may tag.
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
    p.trust || case when p.trust = 'pcp' and not v.is_tagged then ' but has no VLAN' else '' end
    || ', with PFC on for priorities ' || priorities_of(p.pfc_mask) as observed,
    'dscp, or RoCE on a VLAN' as expected,
    s.trust is null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and p.pfc_mask <> 0 as applies,
    -- With PFC on for priority 0 untagged packets are lossless as well.
    case p.trust when 'pcp' then (p.pfc_mask & 1) = 0 and not v.is_tagged when 'dscp' then false end as fault,
    p.netdev as detail,
    p.inferred
from port_qos as p
cross join site as s
left join vlan as v on v.target = p.target and v.device = p.device and v.port = p.port
