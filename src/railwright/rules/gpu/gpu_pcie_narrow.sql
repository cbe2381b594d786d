/* +++
id = "gpu-pcie-narrow"
title = "GPU's PCIe link downtrained (lanes)"
severity = "high"
subject = "gpu"
needs = ["gpu_smi.pcie_width_current", "gpu_smi.pcie_width_max"]
message = "{subject} runs at x{observed}; GPU and slot support x{expected}"
action = "reseat"
preview = true
since = "0.3"
sources = [
  "https://docs.nvidia.com/deploy/nvidia-smi/index.html: PCIe generation and link width, current and max; current may be reduced while the GPU is idle",
  "judgement: preview, which boards give up lanes when idle is not documented",
]

[uses]
"gpu.vendor" = "nvidia-smi tells of NVIDIA's GPUs alone"
+++
## Why it matters
With GPUDirect RDMA every byte that a NIC receives crosses the GPU's own PCIe link. At half the lanes a 400G NIC cannot be
fed from it or write to it at its rate, and copies from host memory are slower by as much.

## What to do
1. Run `nvidia-smi -q | grep -A1 "Link Width"` while a job runs: idle GPUs of some boards give up
   lanes.
2. Reseat the GPU or its riser, and look for bent pins and dust.
3. If it stays narrow in that slot, replace the GPU; if the GPU is at full width in another slot, replace the riser or board.

## Exceptions
The speed is not compared: it drops on idle GPUs. A riser that has fewer lanes than the GPU is within what the slot supports.
*/
select
    g.target,
    g.pci,
    s.pcie_width_current as observed,
    s.pcie_width_max as expected,
    g.vendor = '10de' as applies,
    s.pcie_width_current < s.pcie_width_max as fault
from gpu as g
left join gpu_smi as s on s.target = g.target and s.pci = g.pci
