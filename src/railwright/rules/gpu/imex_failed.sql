/* +++
id = "imex-failed"
title = "IMEX failed in an NVLink rack"
severity = "high"
subject = "host"
needs = ["gpu_smi.name", "gpu_smi.fabric_state", "service.load_state", "service.active_state", "service.sub_state"]
message = "{subject}: nvidia-imex is {observed}; expected {expected}"
action = "reset"
disturbs = "service restart"
preview = true
since = "0.3"
sources = [
  "https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/gettingstarted.html: the service is nvidia-imex and ends where its driver or its configuration does not fit",
  "https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/deployment.html: it must run before CUDA programs start; a job may start it",
  "https://github.com/NVIDIA/cloud-native-docs/issues/453: for ComputeDomains its unit is stopped and masked on purpose",
  "judgement: preview, no real answer with a fault was seen",
]

[unless]
"service.sub_state" = "a service that failed is not being started again"

[uses]
"gpu.vendor" = "only NVIDIA's GPUs are in such a rack: inconclusive without it, unless another GPU of the host is"
"host_scope.nvidia_gpus" = "a host without them is in no such rack"
+++
## Why it matters
In a rack of GB200 or GB300, jobs share GPU memory across trays through the IMEX service of each tray. Where it failed, jobs
across trays fail when NCCL or CUDA imports memory, or exchange their data over the NICs.

## What to do
1. Run `systemctl status nvidia-imex` and read its log (/var/log/nvidia-imex.log): the service ends if its version does not
   fit the GPU driver, or if the nodes' lists of addresses (/etc/nvidia-imex/nodes_config.cfg) differ.
2. Put that right on all trays, run `systemctl restart nvidia-imex` on each, then `nvidia-imex-ctl -N`: every node must be
   connected.

## Exceptions
A service that is stopped, masked or not installed is not reported: a job's prolog may start it, and with the ComputeDomains of
NVIDIA's DRA driver it runs in pods. It also ends by itself, without an error, where the tray has no other to talk to.
*/
with rack as (
    select
        g.target,
        any_known(
            g.vendor = '10de' and (s.name like '%GB200%' or s.name like '%GB300%') and s.fabric_state <> ''
        ) as is_part
    from gpu as g
    left join gpu_smi as s on s.target = g.target and s.pci = g.pci
    group by g.target
)

select
    h.target,
    s.active_state || case when s.sub_state <> s.active_state then ', ' || s.sub_state else '' end as observed,
    'active' as expected,
    case when h.nvidia_gpus = 0 then false else r.is_part end
        and s.load_state = 'loaded' and s.active_state <> 'inactive' as applies,
    s.active_state = 'failed' or s.sub_state = 'auto-restart' as fault
from host_scope as h
left join rack as r on r.target = h.target
left join service as s on s.target = h.target and s.unit = 'nvidia-imex.service'
