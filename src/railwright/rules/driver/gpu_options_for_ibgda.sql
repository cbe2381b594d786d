/* +++
id = "DRV-07"
title = "GPU driver lacks the options with which GPUs drive the NIC"
severity = "medium"
subject = "host"
needs = ["host_scope.nvidia_gpus", "host_scope.architecture", "gpu_direct.gpu_driver_version", "gpu_driver.value"]
message = "{subject} has {observed}; IBGDA needs {expected}"
since = "0.2"
sources = [
    "review DRV-07", "incident I-024", "https://github.com/NVIDIA/nvshmem/issues/23 (since 3.4.5 only for fully device-driven IBGDA)",
    "NVSHMEM 3.4.5 release notes: the registry key is one of x86",
]

[uses]
"site.ibgda" = "whether jobs let GPUs drive the NIC is the site's word"
+++
## Why it matters
With IBGDA the GPU itself writes the NIC's doorbell, which it may only where the driver was loaded to map it. Without, NVSHMEM
before 3.4.5 does not start (DeepEP's low-latency kernels fail), later ones let the CPU help, at a cost in latency.

## What to do
`options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords="PeerMappingOverride=1;"` in a file of /etc/modprobe.d, the
initramfs made anew, and the GPU driver loaded again: all GPU processes must be gone; a reboot is the usual way.

## When it is wrong
Where jobs use NVSHMEM 3.4.5 or later and are content with the CPU's help: say `ibgda = false` in the site file. Without that
word of the site the rule does not apply. Which version of NVSHMEM jobs bring is not read.
*/
with options as (
    select
        target,
        max(value) filter (name = 'EnableStreamMemOPs') as stream_operations,
        max(value) filter (name = 'RegistryDwords') as registry
    from gpu_driver
    group by target
)

select
    h.target,
    concat_ws(' and ', 'EnableStreamMemOPs ' || o.stream_operations, 'RegistryDwords "' || o.registry || '"') as observed,
    'EnableStreamMemOPs 1 and PeerMappingOverride=1' as expected,
    s.ibgda is true and h.nvidia_gpus > 0 and h.architecture = 'x86_64' and d.gpu_driver_version <> '' as applies,
    o.stream_operations <> '1' or not regexp_matches(o.registry, '(^|[;, ])PeerMappingOverride=1($|[;, ])') as fault
from host_scope as h
cross join site as s
left join gpu_direct as d on d.target = h.target
left join options as o on o.target = h.target
