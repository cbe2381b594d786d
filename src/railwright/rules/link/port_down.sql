/* +++
id = "LNK-01"
title = "Compute port is down"
severity = "blocker"
subject = "port"
peers = true
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state"]
message = "{subject} is {observed}, expected {expected}"
implied_by = ["THM-01"]
since = "0.2"
sources = [
  "review LNK-01, G-NETNS, G-FLEET", "incident I-083, I-097",
  "judgement: a port that looks unused is expected up where most of its twins carry compute traffic",
]

[uses]
"port_scope.netdev" = "asked on Ethernet only"
"port_scope.pci" = "asked where a port looks unused: its twins in other hosts have the same address"
"port_scope.vf_count" = "asked where the port is down: with virtual functions its own device may be down on purpose"
"port_scope.inferred" = "the site's word `unused` is final; an inferred one is held against its twins"
"host_scope.kind" = "asked where a port looks unused"
"host.uptime_s" = "asked where the port is not active; where it was not read, a port that is down is still down"
"rdma_device.psid" = "asked where a port looks unused"
"rdma_port.physical_state" = "asked where the port is neither active nor down"
"mlxlink_port.physical_state" = "asked where the port is down and has virtual functions"
"mlxlink_port.recommendation" = "the firmware's words on the cause"
"port_scope.rate_gbps" = "only for the cost: what the host's other compute ports carry"
"verbs_port.active_mtu" = "only for the cost"

[parameters.least_members]
default = 8
unit = "ports"
reason = "review G-FLEET: fewer are no group to compare in"

[parameters.settles_s]
default = 600
unit = "s since boot"
reason = "review LNK-01: optics, training and the subnet manager take minutes after a boot"
+++
## Why it matters
One rail is lost: jobs that use it fail, or the library drops to fewer NICs or to sockets without a word.

## What to do
Read the firmware's own diagnosis (`mlxlink -d PCI -m`): cable unplugged, no partner, disabled, module fault. Then the switch
port, then clean and reseat, then swap the cable, one end at a time. `ip link set NETDEV up` if it is down on purpose.
Keep the host out of jobs until then.

## When it is wrong
While a switch reboots: collect again. In the first ten minutes after the host's own boot a port that is not active is
unknown and no failure. A port that nobody uses: give it the role
`unused` in the site file. A port that is down and without an address counts as unused by itself, unless most ports in the
same slot of like hosts, or on like cards, carry compute traffic.
*/
with members as (
    select p.target, p.device, p.port, p.pci, p.role, h.kind, d.psid || ' function ' || right(p.pci, 1) as type
    from port_scope as p
    left join host_scope as h on h.target = p.target
    left join rdma_device as d on d.target = p.target and d.device = p.device
),

slots as (
    select kind, pci, port, count(*) as members, mode_known(role = 'compute') as is_compute
    from members
    group by all
),

types as (
    select kind, type, port, count(*) as members, mode_known(role = 'compute') as is_compute
    from members
    group by all
)

select
    p.target,
    p.device,
    p.port,
    concat_ws(', ', p.state, r.physical_state) as observed,
    'ACTIVE' as expected,
    -- A device in a pod's namespace is the pod's business.
    case p.link_layer when 'InfiniBand' then true when 'Ethernet' then p.netdev <> '' end
    and case
        when p.role = 'unused' and p.inferred
            then case
                when s.members >= $least_members then s.is_compute
                when t.members >= $least_members then t.is_compute
                else false
            end
        else p.role = 'compute'
    end as applies,
    case
        when p.state = 'ACTIVE' then false
        when u.uptime_s < $settles_s then null
        when p.state = 'DOWN' then case when p.vf_count > 0 then l.physical_state <> 'LinkUp' when p.vf_count = 0 then true end
        -- These wait for the subnet manager, which is TOP-03.
        when p.state in ('INIT', 'ARMED') then r.physical_state <> 'LinkUp'
    end as fault,
    concat_ws(': ', nullif(p.netdev, ''), l.recommendation) as detail, -- null: only words
    p.inferred,
    round(o.wire_gbps, 1) as cost_gbps
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join mlxlink_port as l on l.target = p.target and l.pci = p.pci
left join host as u on u.target = p.target
left join members as m on m.target = p.target and m.device = p.device and m.port = p.port
left join slots as s on s.kind = m.kind and s.pci = m.pci and s.port = m.port
left join types as t on t.kind = m.kind and t.type = m.type and t.port = m.port
-- A port that is down carries nothing; its own rate is a placeholder.
left join (
    select a.target, mode_known(w.wire_gbps) as wire_gbps
    from port_scope as a
    inner join port_wire as w on w.target = a.target and w.device = a.device and w.port = a.port
    where a.role = 'compute' and a.state = 'ACTIVE'
    group by a.target
) as o on o.target = p.target
