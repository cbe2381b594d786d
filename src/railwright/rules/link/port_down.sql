/* +++
id = "LNK-01"
title = "Port is down"
severity = "blocker"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state"]
message = "{subject} is {observed}, expected {expected}"
implied_by = ["THM-01"]
on_path = {packets = ["data", "CNP", "other"], sides = ["in", "out"]}
since = "0.2"
sources = ["review LNK-01, G-NETNS", "incident I-083, I-097"]

[uses]
"port_scope.netdev" = "asked on Ethernet only"
"port_scope.pci" = "mlxlink is asked by it"
"port_scope.vf_count" = "asked where the port is down: with virtual functions its own device may be down on purpose"
"port_scope.inferred" = {purpose = "severity"}
"port_scope.role_dispute" = {purpose = "words"}
"host.uptime_s" = "asked where the port is not active; where it was not read, a port that is down is still down"
"rdma_port.physical_state" = "asked where the port is neither active nor down"
"mlxlink_port.physical_state" = "asked where the port is down and has virtual functions"
"mlxlink_port.recommendation" = "the firmware's words on the cause"
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other compute ports carry"}
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
Of a compute port one rail is lost: jobs that use it fail, or the library drops to fewer NICs or to sockets without a word.
Of a storage port half of the bandwidth or the spare is gone.

## What to do
Read the firmware's own diagnosis (`mlxlink -d PCI -m`): cable unplugged, no partner, disabled, module fault. Then the switch
port, then clean and reseat, then swap the cable, one end at a time. `ip link set NETDEV up` if it is down on purpose.
Keep the host out of jobs until then.

## When it is wrong
While a switch reboots: collect again. In the first ten minutes after the host's own boot a port that is not active is
unknown and no failure. A port that nobody uses: give it the role
`unused` in the site file. Ports without a cable count as unused by themselves where most hosts of the class have none in
that slot, or where the second ports of all cards of a type have none.
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
        -- These wait for the subnet manager, which is TOP-03.
        when p.state in ('INIT', 'ARMED') then r.physical_state <> 'LinkUp'
    end as fault,
    concat_ws('; ',
        concat_ws(': ', nullif(p.netdev, ''), l.recommendation), -- null: only words
        'its place says compute, though ' || nullif(p.role_dispute, '') -- null: only words
    ) as detail,
    p.inferred,
    case when p.role = 'compute' then round(o.wire_gbps, 1) end as cost_gbps,
    case when p.role = 'storage' then 'medium' else 'blocker' end as severity
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join mlxlink_port as l on l.target = p.target and l.pci = p.pci
left join host as u on u.target = p.target
-- A port that is down carries nothing; its own rate is a placeholder.
left join (
    select a.target, mode_known(w.wire_gbps) as wire_gbps
    from port_scope as a
    inner join port_wire as w on w.target = a.target and w.device = a.device and w.port = a.port
    where a.role = 'compute' and a.state = 'ACTIVE'
    group by a.target
) as o on o.target = p.target
