/* +++
id = "gpu-fabric-not-ready"
title = "GPU not part of its NVLink fabric"
severity = "blocker"
subject = "gpu"
needs = ["gpu_smi.fabric_state", "gpu_smi.fabric_status"]
message = "{subject}: NVLink fabric {observed}; expected {expected}"
action = "reset"
preview = true
since = "0.3"
sources = [
  "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide: the state of the fabric in nvidia-smi -q",
  "https://docs.nvidia.com/multi-node-nvlink-systems/mnnvl-user-guide: the same for racks, where IMEX follows",
  "judgement: preview, no real answer with a fault was seen",
]

[unless]
"gpu_smi.fabric_status" = "the state was not collected either, or the GPU has no fabric"

[uses]
"gpu.vendor" = "inconclusive without it, unless the driver reports a fabric"
+++
## Why it matters
GPUs on a board or in a rack with NVSwitches work only after Fabric Manager has configured the switches. Until then CUDA
does not start (error 802, system not yet initialized), or starts without NVLink, and jobs fall back to the network or to
PCIe.

## What to do
1. Run `systemctl status nvidia-fabricmanager`: it must be running, in the same version as the GPU driver, and start at
   boot.
2. Check its log (/var/log/fabricmanager.log) for a failed switch or link.
3. In a rack of several trays Fabric Manager runs on the switches, and each tray's `nvidia-imex` needs the list of all
   nodes: `nvidia-imex-ctl -N` shows which of them it knows.

## Exceptions
Expected right after a boot: it takes minutes. Older drivers do not print the state: the check is then inconclusive. A failed
IMEX is found by `imex-failed`.
*/
select
    g.target,
    g.pci,
    s.fabric_state || case when s.fabric_status <> '' then ', ' || s.fabric_status else '' end as observed,
    'Completed, Success' as expected,
    case when g.vendor <> '10de' or s.fabric_state = '' then false when s.fabric_state is not null then true end as applies,
    s.fabric_state <> 'Completed' or s.fabric_status <> 'Success' as fault
from gpu as g
left join gpu_smi as s on s.target = g.target and s.pci = g.pci
