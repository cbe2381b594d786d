/* +++
id = "gpu-options-ibgda"
aliases = ["DRV-07"]
title = "GPU driver options for IBGDA missing"
severity = "medium"
subject = "host"
needs = ["host_scope.nvidia_gpus", "host_scope.architecture", "gpu_direct.gpu_driver_version", "gpu_driver.value"]
message = "{subject} has {observed}; IBGDA needs {expected}"
action = "set"
setting = "host.gpu_driver_options"
since = "0.2"
sources = [
    "review DRV-07", "incident I-024", "https://github.com/NVIDIA/nvshmem/issues/23 (since 3.4.5 only for fully device-driven IBGDA)",
    "NVSHMEM 3.4.5 release notes: the registry key is one of x86",
]

[uses]
"site.ibgda" = "the site file sets whether jobs let GPUs drive the NIC"
+++
## Why it matters
With IBGDA the GPU itself writes the NIC's doorbell, which works only if the driver was loaded with the options to map it.
Without them, NVSHMEM before 3.4.5 does not start (DeepEP's low-latency kernels fail); later versions let the CPU assist, at
a cost in latency.

## What to do
1. Add `options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords="PeerMappingOverride=1;"` to a file in
   /etc/modprobe.d.
2. Rebuild the initramfs.
3. Reload the GPU driver. No GPU process may be running; a reboot is the usual way.

## Exceptions
If jobs use NVSHMEM 3.4.5 or later and CPU assistance is acceptable, set `ibgda = false` in the site file. The rule applies
only if the site file sets `ibgda = true`. The NVSHMEM version that jobs bring is not collected.
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
