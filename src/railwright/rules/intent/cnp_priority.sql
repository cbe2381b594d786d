/* +++
id = "INTENT.cnp_priority"
title = "Priority of congestion notifications is not what the site wants"
severity = "medium"
subject = "port"
needs = ["port_scope.netdev", "port_scope.link_layer", "port_scope.role", "ecn_parameter.value"]
message = "{subject} sends CNPs with priority {observed}, the site wants {expected}"
setting = "nic.cnp_priority"
since = "0.2"
sources = ["review QOS-06", "reference B1.1, B1.2, B3"]

[uses]
"site.cnp_priority" = "nothing is wanted where the site says nothing"
"site.programmable_cc" = "the firmware's own value then is no evidence"
"probe_result.status" = "whether the driver shows such values at all"
"port_scope.pci" = "asked where the driver shows no value"
"netdev.port_name" = "asked where the driver shows no value: which of the card's ports this is"
"nic_parameter.current_code" = "asked where the driver shows no value"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
The priority chooses the queue in which the NIC sends its CNPs, and the tag of VLAN packets. Behind data, or in a priority
that PFC stops, they reach the sender when the congestion is long over.

## What to do
`echo PRIORITY > /sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio` takes hold at once and is lost when the driver starts again.
Firmware keeps it as `CNP_802P_PRIO_P1`, in force from the next firmware reset on, which takes down every function of the
card.

## When it is wrong
Switches that trust DSCP never see this priority: there only the NIC's own queue is at stake. The value that runs counts
before the firmware's; the latter alone is judged where the driver shows none, and not with programmable congestion control.
Of a bond only the firmware of its first function can be read, and on a card with two ports not even that: such a port is
unknown.
*/
with firmware as (
    select target, pci, port, current_code, max(port) over (partition by target, pci) as ports
    from nic_parameter
    where name = 'CNP_802P_PRIO'
),

-- What runs counts before what the firmware starts with, which counts where the driver has no such file.
marked as (
    select
        p.*,
        case
            when e.value is not null then e.value
            when d.status = 'absent' and s.programmable_cc is not true then f.current_code
        end as priority,
        e.value is null and d.status = 'absent' as is_not_shown
    from port_scope as p
    cross join site as s
    left join ecn_parameter as e
        on e.target = p.target and e.netdev = p.netdev and e.role = 'np' and e.name = 'cnp_802p_prio'
    left join probe_result as d on d.target = p.target and d.probe = 'ecn' and d.instance = ''
    left join netdev as n on n.target = p.target and n.name = p.netdev
    -- A card's functions all show the parameters of all its ports.
    left join firmware as f
        on f.target = p.target and f.pci = p.pci
        and (f.ports = 1 or f.port = try_cast(regexp_extract(n.port_name, '^p([0-9]+)', 1) as integer) + 1)
)

select
    m.target,
    m.device,
    m.port,
    m.priority as observed,
    s.cnp_priority as expected,
    s.cnp_priority is not null and m.link_layer = 'Ethernet' and m.role = 'compute' and m.netdev <> ''
    and not (s.programmable_cc is true and m.is_not_shown) as applies,
    m.priority <> s.cnp_priority as fault,
    m.netdev || case when m.is_not_shown then ', by its firmware' else '' end as detail,
    m.inferred
from marked as m
cross join site as s
