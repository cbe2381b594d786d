/* +++
id = "QOS-07"
title = "A job that sets no traffic class rides a priority without PFC"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask", "roce_tos.traffic_class",
]
message = "{subject} gives a job that sets nothing {observed}, needed is {expected}"
implied_by = ["INTENT.pfc", "INTENT.data_dscp", "QOS-03"]
since = "0.2"
sources = [
  "review QOS-07, G-JOBENV, G-FABRIC", "reference B3, B9", "incident I-061, I-070",
  "judgement: without the vendor's driver package there is no traffic class for all queue pairs",
]

[uses]
"site.fabric_mode" = "only lossless designs are judged"
"roce_tos.traffic_class_rules" = "asked where no traffic class is set for all queue pairs"
"kernel_module.taints" = "tells a driver that has no such file from a file that was not read"
"library_setting.value" = "asked where the driver forces none; NCCL's own default is 0"
"library_setting.precedence" = "asked where the driver forces none"
"probe_result.status" = "tells a variable that is not set from one that was not read"
"netdev_qos.trust" = "where a DSCP map is shown the port trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Trust, map and PFC may all be right, and jobs still ride best effort: NCCL sends with traffic class 0 unless it is told
otherwise. NVIDIA's operator sets PFC up and leaves this to the jobs. Loss shows under load only.

## What to do
Give jobs the traffic class of the design, DSCP times 4 plus 2 (26 makes 106): `NCCL_IB_TC=106` in `/etc/nccl.conf` on hosts,
in the pod's environment on Kubernetes, and the like for other libraries. Or let the driver force it for all queue pairs that
it sets up: `echo 106 > /sys/class/infiniband/DEVICE/tc/PORT/traffic_class`, at once, lost when the driver starts again, and
without effect on queue pairs that a library makes through DevX (QOS-08). The default type of service of RDMA-CM does not
reach NCCL.

## When it is wrong
What a job brings in its own environment wins and is not read: where every job sets its traffic class, waive this rule.
`NCCL_IB_FIFO_TC` is not judged, as control messages may have a class of their own by design. A port that trusts VLAN
priorities is not judged. The QoS of a bond is that of its members: one that is wrong is enough.
*/
-- What the host's files give to NCCL: unknown where a script decides or a file was not read whole, else 0 where none sets it.
with library as (
    select
        r.target,
        case
            when count(l.name) filter (l.name = '' or l.precedence is null) > 0 then null
            when count(l.name) filter (l.precedence = 1) = 0 then 0
            when max(try_cast(l.value as integer)) filter (l.precedence = 1) < 0 then 0
            else max(try_cast(l.value as integer)) filter (l.precedence = 1)
        end as traffic_class
    from probe_result as r
    left join library_setting as l on l.target = r.target and l.name in ('', 'NCCL_IB_TC')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
),

sent as (
    select
        p.*,
        case
            when t.traffic_class >= 0 then t.traffic_class
            when (t.traffic_class = -1 and t.traffic_class_rules = 0) or m.taints not like '%O%' then l.traffic_class
        end as traffic_class,
        case when t.traffic_class >= 0 then 'the driver' when l.traffic_class = 0 then 'default' else 'NCCL_IB_TC' end as source
    from port_qos as p
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
    left join kernel_module as m on m.target = p.target and m.name = 'mlx5_core'
    left join library as l on l.target = p.target
),

sorted as (
    select *, priority_of(dscp_priorities, traffic_class >> 2) as priority
    from sent
)

select
    n.target,
    n.device,
    n.port,
    'priority ' || n.priority || ' (traffic class ' || n.traffic_class || ', ' || n.source || ')' as observed,
    case n.pfc_mask
        when 0 then 'a priority with PFC, and none has it'
        else 'a priority with PFC: ' || priorities_of(n.pfc_mask)
    end as expected,
    s.fabric_mode is not null and s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x')
    and n.link_layer = 'Ethernet' and n.role = 'compute' and n.netdev <> ''
    and (n.priority is not null or n.trust = 'dscp') as applies,
    (n.pfc_mask & (1 << n.priority)) = 0 as fault,
    n.netdev as detail,
    n.inferred
from sorted as n
cross join site as s
