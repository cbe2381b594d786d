/* +++
id = "port-down"
aliases = ["LNK-01"]
title = "Port down"
severity = "blocker"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state"]
message = "{subject} is {observed}; expected {expected}"
action = "reseat"
implied_by = ["module-hot"]
on_path = {packets = ["data", "CNP", "other", "InfiniBand"], sides = ["in", "out"]}
since = "0.2"
sources = ["review LNK-01, G-NETNS", "incident I-083, I-097"]

[uses]
"port_scope.netdev" = "used on Ethernet only"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.vf_count" = "used if the port is down: with virtual functions its own device may be down on purpose"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.role_dispute" = {purpose = "words"}
"host.uptime_s" = "used if the port is not active; if it was not read, a port that is down is still down"
"rdma_port.physical_state" = "used if the port is neither active nor down"
"mlxlink_port.physical_state" = "used if the port is down and has virtual functions"
"mlxlink_port.recommendation" = "the firmware's diagnosis of the cause"
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other ports of its role carry"}
"verbs_port.active_mtu" = {purpose = "cost"}

[grades]
blocker = "a compute port"
medium = "a storage port"

[parameters.settles_s]
default = 600
unit = "s since boot"
reason = "review LNK-01: optics, training and the subnet manager take minutes after a boot"
+++
## Why it matters
A compute port that is down costs one rail: jobs that use it fail, or the library silently falls back to fewer NICs or to
sockets. A storage port that is down costs half of the bandwidth, or the redundancy.

## What to do
Keep the host out of jobs until the port is up.

1. Read the firmware's own diagnosis (`mlxlink -d PCI -m`): cable unplugged, no partner, disabled, module fault. If the port
   was set down on purpose, run `ip link set NETDEV up`.
2. Check the switch port.
3. Clean and reseat.
4. Swap the cable, one end at a time.

## Exceptions
While a switch reboots, the finding is expected: collect again. In the first ten minutes after the host's own boot, a port
that is not active is inconclusive, not a fault. If a port is not used, give it the role `unused` in the site file. A port
without a cable counts as unused automatically if most hosts of the class have none in that slot, or if the second ports of
all cards of a type have none. Apart from that, a compute port that is down stays one, with or without an address. A storage
port that is down and has no address counts as unused, unless most hosts of the class use that slot for storage: to have it
checked on a single host, set its role in the site file.
*/
select
    p.target,
    p.device,
    p.port,
    concat_ws(', ', p.state, r.physical_state) as observed,
    'ACTIVE' as expected,
    -- A device in a pod's namespace is the pod's business.
    case p.link_layer when 'InfiniBand' then true when 'Ethernet' then p.netdev <> '' end
    and p.role in ('compute', 'storage') as applies,
    case
        when p.state = 'ACTIVE' then false
        when u.uptime_s < $settles_s then null
        when p.state = 'DOWN' then case when p.vf_count > 0 then l.physical_state <> 'LinkUp' when p.vf_count = 0 then true end
        -- These wait for the subnet manager, which is subnet-manager-missing.
        when p.state in ('INIT', 'ARMED') then r.physical_state <> 'LinkUp'
    end as fault,
    concat_ws('; ',
        concat_ws(': ', nullif(p.netdev, ''), l.recommendation), -- null: only words
        'its slot suggests compute, although ' || nullif(p.role_dispute, '') -- null: only words
    ) as detail,
    p.inferred,
    round(o.port_gbps, 1) as cost_gbps,
    case when p.role = 'storage' then 'medium' else 'blocker' end as severity
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join mlxlink_port as l on l.target = p.target and l.pci = p.pci
left join host as u on u.target = p.target
-- A port that is down carries nothing; its own rate is a placeholder.
left join role_wire as o on o.target = p.target and o.role = p.role
