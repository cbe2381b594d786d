/* +++
id = "topology-flat"
aliases = ["NUM-05"]
title = "Guest without PCIe topology for NCCL"
severity = "high"
subject = "host"
needs = ["host_scope.virtualization", "host_scope.gpus", "host_kind.nic_functions"]
message = "{subject} shows {observed}: NCCL cannot tell which NIC is near which GPU"
action = "ask"
setting = "library.setting"
cost = "260 instead of 350 GB/s (incident I-009)"
since = "0.2"
sources = ["review NUM-05", "incident I-009", "incident I-007",
    "NVIDIA/nccl src/misc/param.cc (where settings come from)"]

[uses]
"gpu_nic.common_hop" = "a switch or a file is enough; inconclusive if both are unknown"
"library_setting.value" = "the same"
"library_setting.precedence" = "the same"
"probe_result.status" = "tells a host without files from one that was not read"
+++
## Why it matters
NCCL pairs GPUs and NICs by the PCIe tree. A hypervisor that puts all of them on one bus, or each on its own, hides the
switches above them: rails are chosen by number, GPUDirect is not used, and traffic crosses sockets.

## What to do
Give the guest virtual switches (pxb-pcie and ports) that copy the host's tree, or an XML file of the real tree and
`NCCL_TOPO_FILE=/path` in `/etc/nccl.conf`. Cloud images include such a file: use the one for the machine type. The file
takes effect at the next job, the tree at the next start of the guest.

## Exceptions
A job that sets `NCCL_TOPO_FILE` itself, `~/.nccl.conf` and the file that `NCCL_CONF_FILE` names are not collected: set the
variable in `/etc/nccl.conf` as well, or waive it. Guests with one GPU or one NIC have nothing to pair.
*/
with trees as (
    select target, any_known(common_hop <> '') as has_switch from gpu_nic group by target
),

-- A value that is more than a word was set all the same. What a script decides, or a file without a name that was not read
-- whole may set, is unknown.
files as (
    select
        target,
        any_known(
            case
                when name = '' or precedence is null then null
                else precedence = 1 and coalesce(value <> '', true) -- null: set to something
            end
        ) as is_set
    from library_setting
    where name in ('NCCL_TOPO_FILE', '')
    group by target
)

select
    h.target,
    h.gpus || ' GPUs and ' || k.nic_functions || ' NICs that share no switch' as observed,
    'PCIe switches or NCCL_TOPO_FILE' as expected,
    h.virtualization = 'guest' and h.gpus > 1 and k.nic_functions > 1 as applies,
    not t.has_switch and not case when f.target is not null then f.is_set when r.status is not null then false end as fault
from host_scope as h
left join host_kind as k on k.target = h.target
left join trees as t on t.target = h.target
left join files as f on f.target = h.target
left join probe_result as r on r.target = h.target and r.probe = 'libraries' and r.status in ('ok', 'absent')
