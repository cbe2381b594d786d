/* +++
id = "gpu-without-near-nic"
aliases = ["GDR-11"]
title = "GPU without compute NIC on its PCIe switch"
severity = "medium"
subject = "gpu"
needs = ["host_scope.has_class", "host_scope.virtualization", "host_scope.architecture", "host_scope.gpus", "gpu_nic.distance"]
message = "{subject} has its nearest compute NIC at {observed}"
action = "reseat"
cost = "25 instead of 56 GB/s per NIC across sockets (incident I-145)"
since = "0.2"
sources = ["review GDR-11 and K8S-04", "incident I-145", "incident I-147", "pci.ids (ids of SXM modules)"]

[unless]
"gpu_nic.distance" = "GPU and NIC are further apart than one root complex (NULL: the distance is unknown)"

[uses]
"gpu.device_id" = "inconclusive without it; its table lists the subjects"
"host_scope.compute_nics" = "nothing is expected if the site file does not give the number of compute NICs"
"nic_scope.role" = "leaves storage and management out; a NIC of unknown role next to a GPU counts as compute"
"gpu_nic.relation" = {purpose = "words"}
+++
## Why it matters
On eight-GPU boards each GPU shares a PCIe switch with a NIC. A GPU without one sends through the CPU or the other socket,
without GPUDirect, and its ring runs at the pace of that GPU.

## What to do
1. Count the NICs on the bus: a card that fell off (`intent-compute-nics`, `nic-without-rdma`) is the usual cause.
2. Compare the PCIe tree with that of another host of the same model (`lspci -tv`): look for a card in the wrong slot or
   riser, or a BIOS setting of the switches. Looking does not require a restart.

## Exceptions
Only x86 hosts with eight SXM GPUs (A100 to B300) are checked, and only if their class requires at least one compute NIC per
two GPUs. Two GPUs and one NIC below one switch, as on A100 boards, are fine. A NIC that is dead or in a pod still counts as
near. A front-end card below the GPU's switch does not count: its ports are for storage or management.
*/
with nearest as (
    select
        g.target,
        g.gpu,
        -- null: no common port and no NUMA node mean far apart, and a NIC next to a GPU counts as compute.
        any_known(coalesce(g.distance <= 1, false) and coalesce(n.role = 'compute', true)) as has_near, -- null: see above
        min(row(g.distance, g.relation)) filter (n.role = 'compute') as best
    from gpu_nic as g
    left join nic_scope as n on n.target = g.target and n.pci = g.nic
    group by g.target, g.gpu
)

select
    g.target,
    g.pci,
    case when w.best is null then 'an unknown distance (no compute NIC found)' else w.best[2] end as observed,
    'PIX or PXB' as expected,
    case when h.has_class then h.compute_nics is not null else h.has_class end
        and 2 * h.compute_nics >= h.gpus
        and h.gpus = 8
        and h.virtualization = 'bare metal'
        and h.architecture = 'x86_64'
        -- SXM modules of A100, A800, H100, H800, H20, H200, B200 and B300.
        and g.device_id in ('20b0', '20b2', '20b3', '20f3', '2330', '2324', '2329', '2335', '2339', '2901', '3182') as applies,
    not w.has_near as fault
from gpu as g
left join host_scope as h on h.target = g.target
left join nearest as w on w.target = g.target and w.gpu = g.pci
