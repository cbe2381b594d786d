/* +++
id = "N-03"
title = "Congestion notifications share a class with data or can be paused"
severity = "medium"
subject = "port"
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "qos_dscp.priority", "qos_priority.pfc_enabled", "ecn_parameter.value",
]
message = "{subject} has CNPs with {observed}, needed is {expected}"
implied_by = ["INTENT.cnp_dscp", "INTENT.pfc"]
since = "0.2"
sources = ["review N-03, QOS-06", "reference B1.1, B3 (switch defaults: CNP strict on priority 6)"]

[uses]
"site.data_priority" = "where nobody says it, only PFC is judged"
"site.ecn" = "where the site says that NICs need not react, CNPs do not matter"
"site.fabric_mode" = "pfc-only designs have no CNPs"
"qos_port.trust" = "where a DSCP map is shown the port trusts DSCP"
"probe_result.status" = "whether the driver shows the DSCP of CNPs at all"
"port_scope.pci" = "asked where the driver does not"
"netdev.port_name" = "asked where the driver does not: which of the card's ports this is"
"nic_parameter.current_code" = "asked where the driver does not"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A CNP must reach the sender while the queue is still full. In the class of data it waits in that very queue; in a priority
with PFC it is stopped together with it. The loop gets slow when it is needed most.

## What to do
Give CNPs a DSCP of their own that maps to a priority without PFC, 48 and priority 6 by default: `echo 48 >
/sys/class/net/NETDEV/ecn/roce_np/cnp_dscp`, at once, lost when the driver starts again (`CNP_DSCP_P1` keeps it, from the next
firmware reset on). Taking PFC off the priority instead bounces the link. Switches need the same map, and a strict queue.

## When it is wrong
Only the host's own map is seen here: a switch may still send CNPs elsewhere, and whether its queue is strict is not read. A
port that trusts VLAN priorities is not judged. The QoS of a bond is that of its members and is not read from the bond: such a
port is unknown.
*/
with pfc as (
    select
        target,
        netdev,
        mask_known(pfc_enabled, priority) as mask
    from qos_priority
    group by target, netdev
),

firmware as (
    select target, pci, port, current_code, max(port) over (partition by target, pci) as ports
    from nic_parameter
    where name = 'CNP_DSCP'
),

-- What runs counts before what the firmware starts with, which counts where the driver has no such file.
cnp as (
    select
        p.*,
        try_cast(case when e.value is not null then e.value when d.status = 'absent' then f.current_code end as integer) as dscp
    from port_scope as p
    left join ecn_parameter as e
        on e.target = p.target and e.netdev = p.netdev and e.role = 'np' and e.name = 'cnp_dscp'
    left join probe_result as d on d.target = p.target and d.probe = 'ecn' and d.instance = ''
    left join netdev as n on n.target = p.target and n.name = p.netdev
    left join firmware as f
        on f.target = p.target and f.pci = p.pci
        and (f.ports = 1 or f.port = try_cast(regexp_extract(n.port_name, '^p([0-9]+)', 1) as integer) + 1)
),

-- Of 64 entries per port only those that some port asks for: there are few.
map as (
    select c.target, c.device, c.port, m.priority
    from cnp as c
    inner join qos_dscp as m on m.target = c.target and m.netdev = c.netdev and m.dscp = c.dscp
    where m.dscp in (select distinct dscp from cnp)
)

select
    c.target,
    c.device,
    c.port,
    'DSCP ' || c.dscp || ' in priority ' || m.priority || case
        when (f.mask & (1 << m.priority)) <> 0 then ', which has PFC'
        when m.priority = s.data_priority then ', that of data'
        else ''
    end as observed,
    'a priority of their own without PFC' as expected,
    s.ecn is not false and (s.fabric_mode is null or s.fabric_mode <> 'pfc-only')
    and c.link_layer = 'Ethernet' and c.role = 'compute' and c.netdev <> ''
    and (m.priority is not null or q.trust = 'dscp') as applies,
    (f.mask & (1 << m.priority)) <> 0 or (s.data_priority is not null and m.priority = s.data_priority) as fault,
    c.netdev as detail,
    c.inferred
from cnp as c
cross join site as s
left join map as m on m.target = c.target and m.device = c.device and m.port = c.port
left join pfc as f on f.target = c.target and f.netdev = c.netdev
left join qos_port as q on q.target = c.target and q.netdev = c.netdev
