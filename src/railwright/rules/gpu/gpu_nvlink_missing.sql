/* +++
id = "gpu-nvlink-missing"
title = "GPU without its NVLinks"
severity = "blocker"
subject = "gpu"
needs = ["gpu_topology.nvlinks"]
message = "{subject} reaches the other GPUs over {observed} NVLinks; expected {expected}"
action = "reset"
disturbs = "reboot"
preview = true
since = "0.3"
sources = [
  "https://docs.nvidia.com/health-validation/reference/checks/nvlink: no inactive NVLink, 18 of them on H100, GB200 and GB300",
  "https://github.com/vllm-project/vllm/issues/16336: one GPU of an HGX B200 that nvidia-smi topo shows as NODE to all others",
  "judgement: preview, of answers with a fault only that one is public",
]

[unless]
"gpu_topology.nvlinks" = "a GPU that is alone has no other to reach"

[uses]
"gpu.vendor" = "only NVIDIA's GPUs have NVLinks"
"gpu_topology.b_device" = "tells a GPU from a NIC; the same row has the links"
"gpu_smi.fabric_state" = "asked only where no GPU of the host reaches another over NVLink: inconclusive without it"
"gpu_smi.name" = "likewise, for boards whose driver does not print the fabric"
+++
## Why it matters
The GPUs of a board exchange data over NVLink at several times the rate of the NICs. A job that finds one of them without
uses PCIe or the network for it, and every collective on that host runs at that pace; NCCL may refuse to start.

## What to do
1. Run `nvidia-smi nvlink --status`: it lists every link of every GPU, with `<inactive>` where one is down.
2. Run `dmesg | grep -i xid`: 74 is an NVLink error, 79 a GPU that is gone.
3. Drain the host, reset the GPU (`nvidia-smi --gpu-reset`, all GPUs of the board together), then reboot.
4. If the link stays down, reseat or replace the GPU or its board.

## Exceptions
PCIe cards with NVLink bridges on some pairs only are set up like this on purpose: waive those without. `nvidia-smi topo`
counts the links between two GPUs; a link that is up and has errors is not found here.
*/
with numbered as (
    select
        target, pci,
        'GPU' || (row_number() over (partition by target order by pci) - 1) as gpu,
        fabric_state <> '' or name like '%-SXM%' as on_board
    from gpu_smi
),
linked as (
    select n.target, n.pci, any_known(n.on_board) as on_board, max(t.nvlinks) as links
    from numbered as n
    left join gpu_topology as t on t.target = n.target and t.a = n.gpu and t.b_device = ''
    group by n.target, n.pci
),
host_gpus as (
    select target, max(links) as most, any_known(on_board) as on_board
    from linked
    group by target
)
select
    g.target,
    g.pci,
    l.links as observed,
    case when h.most > 0 then h.most::varchar else 'some' end as expected,
    case
        when g.vendor <> '10de' or count(*) over (partition by g.target) = 1 then false
        when h.most > 0 then true
        when h.most = 0 then h.on_board
    end as applies,
    l.links < h.most or h.most = 0 as fault
from gpu as g
left join linked as l on l.target = g.target and l.pci = g.pci
left join host_gpus as h on h.target = g.target
