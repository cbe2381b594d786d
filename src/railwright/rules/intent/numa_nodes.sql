/* +++
id = "INTENT.numa_nodes"
title = "Number of NUMA nodes is not that of the node class"
severity = "medium"
subject = "host"
needs = ["host_scope.has_class", "numa_node.cpu_count"]
message = "{subject} has {observed} NUMA nodes with CPUs, its class has {expected}"
covers = ["NUM-02"]
since = "0.2"
cost = "an A100 PCIe pair far below expectation reached 9 GB/s with NPS=4 (incident I-144)"
sources = ["review NUM-02, G-PLATFORM", "incident I-144"]

[uses]
"host_scope.numa_nodes" = "nothing is wanted where the class says nothing"
+++
## Why it matters
How the BIOS splits a socket into nodes (NPS on AMD, sub-NUMA clusters on Intel) decides which memory and cores are near
a NIC and a GPU. Bindings that were made for one split are wrong for another.

## What to do
Set the BIOS option to what the class has and reboot; check bindings of jobs and the topology file of guests afterwards.

## When it is wrong
A host that belongs to another class. Nodes without CPUs (memory of GPUs on Grace, CXL) are not counted.
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
