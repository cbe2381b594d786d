/* +++
id = "INTENT.gpus"
title = "Fewer GPUs than the node class has"
severity = "high"
subject = "host"
needs = ["host_scope.has_class", "host_scope.gpus"]
message = "{subject} has {observed} GPUs on the PCI bus, its class has {expected}"
implied_by = ["INV-01"]
since = "0.2"
sources = [
  "review PCI-08 (the same for GPUs: never trim the expectation)",
  "incident I-103",
  "judgement: severity",
]

[uses]
"node_class.gpus" = "nothing is wanted where the class says nothing"
+++
## Why it matters
A GPU that is gone from the bus takes a rank with it: the job does not start, or the rails of this host are loaded
unevenly.

## What to do
`lspci -d 10de:` and the kernel's log: a GPU that fell off the bus says so (Xid 79). Drain the host, then a cold power
cycle, then reseat.

## When it is wrong
A host that belongs to another class. GPUs are counted on the PCI bus: one that is there and that its driver lost still
counts.
*/
select
    h.target,
    h.gpus as observed,
    c.gpus as expected,
    case when h.has_class then c.gpus is not null else h.has_class end as applies,
    h.gpus < c.gpus as fault
from host_scope as h
left join node_class as c on c.target = h.target
