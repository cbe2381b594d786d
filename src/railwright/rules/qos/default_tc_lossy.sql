/* +++
id = "default-tc-lossy"
aliases = ["QOS-07"]
title = "Default traffic class maps to a lossy priority"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dscp_priorities", "netdev_qos.pfc_mask", "roce_tos.traffic_class",
]
message = "{subject} gives a job without a traffic class {observed}; expected {expected}"
action = "set"
setting = "library.setting"
implied_by = ["intent-pfc", "intent-data-dscp", "data-dscp-lossy"]
since = "0.2"
sources = [
  "review QOS-07, G-JOBENV, G-FABRIC", "reference B3, B9", "incident I-061, I-070",
  "judgement: without the vendor's driver package there is no traffic class for all queue pairs",
]

[uses]
"site.fabric_mode" = "only lossless designs are checked"
"roce_tos.traffic_class_rules" = "read only if no traffic class is set for all queue pairs"
"kernel_module.taints" = "distinguishes a driver without this file from a file that was not collected"
"library_setting.value" = "read only if the driver forces none; NCCL's own default is 0"
"library_setting.precedence" = "read only if the driver forces none"
"probe_result.status" = "distinguishes an unset variable from one that was not collected"
"netdev_qos.trust" = "a port that shows a DSCP map trusts DSCP"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Trust, DSCP map and PFC may all be correct, and jobs still run in best effort: NCCL sends with traffic class 0 unless
configured otherwise. NVIDIA's operator configures PFC and leaves the traffic class to the jobs. Loss shows only under
load.

## What to do
Give jobs the traffic class of the design: DSCP times 4 plus 2, e.g. 106 for DSCP 26. Set `NCCL_IB_TC=106` in
`/etc/nccl.conf` on hosts, in the pod's environment on Kubernetes, and the equivalent for other libraries. Or let the
driver force it for all queue pairs that it sets up: `echo 106 > /sys/class/infiniband/DEVICE/tc/PORT/traffic_class`. This
takes effect immediately, is lost when the driver restarts, and has no effect on queue pairs that a library creates
through DevX (`tc-not-for-gpu`). The default type of service of RDMA-CM does not reach NCCL.

## Exceptions
Values in a job's own environment take precedence and are not collected: if every job sets its traffic class, waive this
rule. `NCCL_IB_FIFO_TC` is not checked, because control messages may have a separate class by design. A port that trusts
VLAN priorities (PCP) is not checked. The port's own settings come from `mlnx_qos` or from `dcb`: one of them is enough. On
a bond, the members are checked: one wrong member is enough for a finding.
*/
-- What the host's files set for NCCL: unknown if a script decides or a file was not read completely, 0 if none sets it.
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
        case when t.traffic_class >= 0 then 'forced by the driver' when l.traffic_class = 0 then 'default' else 'NCCL_IB_TC' end as source
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
        when 0 then 'a priority with PFC (none has it)'
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
