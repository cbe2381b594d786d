/* +++
id = "intent-numa-nodes"
aliases = ["INTENT.numa_nodes"]
title = "NUMA node count does not match intent"
severity = "medium"
subject = "host"
action = "set"
setting = "host.bios"
needs = ["host_scope.has_class", "numa_node.cpu_count"]
message = "{subject} has {observed} NUMA nodes with CPUs; its node class has {expected}"
covers = ["NUM-02"]
since = "0.2"
cost = "an A100 PCIe pair far below expectation reached 9 GB/s with NPS=4 (incident I-144)"
sources = ["review NUM-02, G-PLATFORM", "incident I-144"]

[uses]
"host_scope.numa_nodes" = "not checked unless the node class sets it"
+++
## Why it matters
How the BIOS splits a socket into NUMA nodes (NPS on AMD, sub-NUMA clusters on Intel) determines which memory and cores
are local to a NIC and a GPU. Bindings made for one split are wrong for another.

## What to do
1. Set the BIOS option to the value of the node class and reboot.
2. Check the bindings of jobs and the topology file of guests.

## Exceptions
If the host belongs to another node class, correct its class in the site file. Nodes without CPUs (GPU memory on Grace,
CXL) are not counted.
*/
with nodes as (
    select target, count_known(cpu_count > 0) as with_cpus
    from numa_node
    group by target
)

select
    h.target,
    n.with_cpus as observed,
    h.numa_nodes as expected,
    case when h.has_class then h.numa_nodes is not null else h.has_class end as applies,
    n.with_cpus <> h.numa_nodes as fault
from host_scope as h
left join nodes as n on n.target = h.target
