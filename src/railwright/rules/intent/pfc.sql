/* +++
id = "INTENT.pfc"
title = "PFC is not on for the priorities that the site wants lossless"
severity = "high"
subject = "port"
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "qos_priority.pfc_enabled"]
message = "{subject} has PFC on for priorities {observed}, the site wants {expected}"
setting = "nic.pfc"
covers = ["QOS-02"]
cost = "bus bandwidth fell to 0.x GB/s without PFC on the path (incident I-059)"
since = "0.2"
sources = ["review QOS-02, EFFECTS", "reference B3", "incident I-059", "Linux mlx5 en_dcbnl.c"]

[unless]
"qos_priority.pfc_enabled" = "dcb tells it"

[uses]
"site.pfc_mask" = "nothing is wanted where the site says nothing"
"dcb_pfc_priority.enabled" = "the kernel's own tool tells the same where mlnx_qos is not installed"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A lossless priority that does not pause drops under load, and RoCE goes back and sends again. One that pauses without need
holds up everything behind it.

## What to do
`mlnx_qos -i NETDEV --pfc 0,0,0,1,0,0,0,0` (or `dcb pfc set dev NETDEV prio-pfc all:off 3:on`) for priority 3 alone. **The
driver takes the link down and up when the PFC mask changes**: drain the host first, one rail at a time. The value is lost at
reboot, so leave it to a boot unit or the NIC operator; with firmware DCBX or lldpad at work it is overwritten again
(INTENT.dcbx_owner).

## When it is wrong
Ports that carry another class of lossless traffic by design: give them another role in the site file. The QoS of a bond is
that of its members and is not read from the bond: such a port is unknown. Two tools that contradict each other leave the port
unknown too.
*/
with told as (
    select target, netdev, priority, pfc_enabled as enabled from qos_priority
    union all
    select target, netdev, priority, enabled from dcb_pfc_priority
),

-- Known only if each of the eight priorities is either on or off.
pfc as (
    select
        target,
        netdev,
        bit_or(case when enabled then 1 << priority else 0 end) as mask, -- null: in neither mask
        bit_or(case when not enabled then 1 << priority else 0 end) as off_mask -- null: in neither mask
    from told
    group by target, netdev
    having mask + off_mask = 255
)

select
    p.target,
    p.device,
    p.port,
    case f.mask
        when 0 then 'none'
        else array_to_string([x for x in range(8) if f.mask & (1 << x) <> 0], ',')
    end as observed,
    case s.pfc_mask
        when 0 then 'none'
        else array_to_string([x for x in range(8) if s.pfc_mask & (1 << x) <> 0], ',')
    end as expected,
    s.pfc_mask is not null and p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' as applies,
    f.mask <> s.pfc_mask as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
cross join site as s
left join pfc as f on f.target = p.target and f.netdev = p.netdev
