/* +++
id = "intent-port-rate"
aliases = ["INTENT.port_rate"]
title = "Port slower than its node class"
severity = "high"
subject = "port"
needs = ["host_scope.has_class", "port_scope.role", "port_scope.state", "port_scope.rate_gbps"]
message = "{subject} runs at {observed}; its node class has {expected}"
action = "ask"
covers = ["LNK-02"]
implied_by = ["port-down"]
since = "0.2"
sources = ["review LNK-02, G-CAUSE", "incident I-080"]

[uses]
"port_scope.rate_dispute" = {purpose = "words"}
"host_scope.port_rate_gbps" = "not checked unless the node class sets it"
"host_scope.class" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
"port_scope.link_layer" = {purpose = "cost"}
"verbs_port.active_mtu" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"nic_scope.role" = {purpose = "cost"}
"nic_path.gpu_gbps" = {purpose = "cost"}
"nic_path.memory_gbps" = {purpose = "cost"}
"pci_config.max_payload" = {purpose = "cost"}
+++
## Why it matters
The job runs, but slower: a collective waits for its slowest rail. Nothing in the job's output says why.

## What to do
1. Check both link partners: admin speed and breakout of the switch port, lanes, FEC and autonegotiation
   (`mlxlink -d PCI -m`). A cable or module of an older generation also limits the port.
2. If you force a speed, change both link partners in one maintenance window. Forcing a speed bounces the link, and the
   link stays down if the link partners differ.
3. Save the speed in the switch configuration. On the host it is lost at reboot.

## Exceptions
If the ports of a class are split, or spread over planes, its `port_rate_gbps` is the rate of one port. If the port is not
for compute, set its role in the site file. Front-end cards are not checked: their ports are for storage or management. On
Ethernet, the rate is that of the network device or, without one, of the firmware (`mlxlink`), because older kernels show
400G as `40 Gb/sec (4X QDR)` at the RDMA device. If driver and firmware differ on the rate, it is unknown and the check
inconclusive.
*/
select
    p.target,
    p.device,
    p.port,
    printf('%g Gb/s', p.rate_gbps) as observed,
    printf('%g Gb/s', h.port_rate_gbps) as expected,
    -- The rate of a port that is not active is a placeholder.
    case when h.has_class then h.port_rate_gbps is not null else h.has_class end and p.role = 'compute' and p.state = 'ACTIVE' as applies,
    p.rate_gbps < h.port_rate_gbps as fault,
    'class ' || h.class as detail,
    p.inferred,
    cost_gbps(
        w.wire_gbps, e.gbps, g.max_payload,
        wire_write_gbps(h.port_rate_gbps, w.mtu, w.headers), e.gbps, g.max_payload
    ) as cost_gbps,
    case when p.rate_dispute <> '' then 'sources_differ' end as reason
from port_scope as p
left join host_scope as h on h.target = p.target
left join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
left join nic_line as e on e.target = p.target and e.pci = p.pci
left join pci_config as g on g.target = p.target and g.pci = p.pci
