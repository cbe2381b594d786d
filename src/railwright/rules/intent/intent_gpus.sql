/* +++
id = "intent-gpus"
aliases = ["INTENT.gpus"]
title = "Fewer GPUs than the node class"
severity = "high"
subject = "host"
needs = ["host_scope.has_class", "host_scope.gpus"]
message = "{subject} has {observed} GPUs on the PCI bus; its node class has {expected}"
action = "reseat"
implied_by = ["part-missing"]
since = "0.2"
sources = [
  "review PCI-08 (the same for GPUs: never trim the expectation)",
  "incident I-103",
  "judgement: severity",
]

[uses]
"node_class.gpus" = "not checked unless the node class sets it"
+++
## Why it matters
A GPU that is missing from the bus takes a rank with it: the job does not start, or this host's rails are loaded unevenly.

## What to do
1. Check `lspci -d 10de:` and the kernel log. A GPU that fell off the bus is logged there (Xid 79).
2. Drain the host.
3. Do a cold power cycle.
4. Reseat the GPU.

## Exceptions
If the host belongs to another node class, correct its class in the site file. GPUs are counted on the PCI bus: a GPU that
is present but was lost by its driver still counts, and `gpu-xid` reports it from the kernel log. A class by `kind` holds
only for hosts that have all of their GPUs: name its `hosts` instead.
*/
select
    h.target,
    h.gpus as observed,
    c.gpus as expected,
    case when h.has_class then c.gpus is not null else h.has_class end as applies,
    h.gpus < c.gpus as fault
from host_scope as h
left join node_class as c on c.target = h.target
