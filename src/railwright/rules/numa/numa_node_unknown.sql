/* +++
id = "numa-node-unknown"
aliases = ["NUM-01"]
title = "NIC reports no NUMA node"
severity = "medium"
subject = "nic"
needs = ["nic_scope.virtualization", "pci_function.numa_node", "numa_node.cpu_count"]
message = "{subject} reports no NUMA node on a host that has {expected}"
action = "ask"
disturbs = "reboot"
since = "0.2"
sources = ["review NUM-01", "incident I-146", "judgement: guests are left out, there it is normal"]

[uses]
"nic_scope.is_grace" = "Grace root ports rule out a guest if lscpu cannot tell"
"nic_scope.role" = "leaves management and unused ports out; a NIC of unknown role is still checked"
"nic_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Libraries, interrupts and schedulers prefer the CPUs next to a NIC (affinity). With node -1 the kernel treats all CPUs as
near, and half of them are on the other socket: latency becomes noisy, and NCCL's own search for near GPUs goes wrong.

## What to do
The firmware does not report the node to the kernel (ACPI _PXM of the root bridge). Update the BIOS, and look for a setting
such as NUMA or SNC per PCIe slot; it takes a reboot. Writing `numa_node` in sysfs helps until the next boot and taints the
kernel.

## Exceptions
Hosts with one node have nothing to report. In guests it is normal: the hypervisor decides what they see (`topology-flat`).
*/
with nodes as (
    select target, count_known(cpu_count > 0) as with_cpus from numa_node group by target
)

select
    n.target,
    n.pci,
    f.numa_node as observed,
    k.with_cpus || ' nodes' as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and k.with_cpus > 1
        and coalesce(n.role not in ('management', 'unused'), true) as applies, -- null: its node is unknown whatever its role
    f.numa_node = -1 as fault,
    n.inferred
from nic_scope as n
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join nodes as k on k.target = n.target
