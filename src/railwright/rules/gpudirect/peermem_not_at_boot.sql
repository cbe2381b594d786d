/* +++
id = "peermem-not-at-boot"
aliases = ["GDR-09"]
title = "Peer memory module not loaded at boot"
severity = "low"
subject = "host"
needs = [
    "host_scope.nvidia_gpus", "gpu_direct.peermem_module", "gpu_direct.gpu_driver_kind", "boot_module.how",
]
message = "{subject} has {observed}; expected {expected}"
action = "set"
setting = "host.peermem"
preview = true
since = "0.2"
sources = ["review GDR-09 (judgement)", "incident I-017", "modules-load.d(5), modprobe.d(5): softdep"]

[uses]
"kubernetes_node.node" = "on a cluster worker an operator loads it; known only if the node object was imported"
"probe_result.status" = "tells a list that is not there from one that was not read"
+++
## Why it matters
GPUDirect works now because the module was loaded by hand. After the next reboot it is off, and the only sign in a job is a
word missing from its log.

## What to do
Run `echo nvidia-peermem > /etc/modules-load.d/nvidia-peermem.conf`. Better: use open GPU kernel modules and dma-buf, which
need no peer memory module. Nothing is reset.

## Exceptions
A unit or script of another name that calls modprobe, a dracut list and an operator's pods can load the module too, and are
not seen. The rule is therefore a preview.
*/
with named as (
    select
        r.target,
        count(b.name) filter (b.name in ('nvidia_peermem', 'nv_peer_mem') and b.how <> '') as entries,
        count(b.file) filter (b.how is null) as unread
    from probe_result as r
    left join boot_module as b on b.target = r.target
    where r.probe = 'boot_modules' and r.status in ('ok', 'absent')
    group by r.target
)

select
    h.target,
    d.peermem_module || ' loaded but no file that loads it at boot' as observed,
    'an entry in /etc/modules-load.d' as expected,
    h.nvidia_gpus > 0 and d.peermem_module <> ''
        and d.gpu_driver_kind = 'proprietary' -- open modules use dma-buf
        and k.node is null as applies,
    case when n.entries > 0 then false when n.unread = 0 then true end as fault
from host_scope as h
left join gpu_direct as d on d.target = h.target
left join kubernetes_node as k on k.target = h.target
left join named as n on n.target = h.target
