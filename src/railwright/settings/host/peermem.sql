with named as (
    select
        r.target,
        count(b.name) filter (b.name in ('nvidia_peermem', 'nv_peer_mem') and b.how <> '') as entries,
        count(b.file) filter (b.how is null) as unread
    from probe_result as r
    left join boot_module as b on b.target = r.target
    where r.probe = 'boot_modules' and r.status in ('ok', 'absent')
    group by r.target
),

mismatch as (
    select distinct target from kernel_message where kind = 'symbol_mismatch' and driver like '%peer%'
),

kubelets as (
    select distinct target from job_daemon where unit = 'kubelet.service'
)

select
    h.target,
    case
        when d.peermem_module = '' then 'not loaded'
        when d.peermem_module <> '' and n.entries > 0 then 'loaded at boot'
        when d.peermem_module <> '' and n.unread = 0 then 'loaded'
    end as now,
    -- The open driver has dma-buf: whether a module is wanted beside it is not said anywhere.
    case when d.gpu_driver_kind = 'proprietary' or d.peermem_module <> '' and n.entries > 0 then 'loaded at boot' end as wanted,
    case
        when h.virtualization = 'hypervisor' then 'it hands devices to guests'
        when k.node is not null or j.target is not null then 'a Kubernetes node: the driver container of the GPU operator loads it'
        when d.peermem_module = 'nv_peer_mem' then 'nv_peer_mem is loaded, an older module: remove its package first'
        when m.target is not null then 'built against another RDMA stack: rebuild it for the running kernel'
        when d.peermem_module = '' and d.memory_peers like '%nv_mem%' then 'another module serves as the peer'
        when d.peermem_module <> '' and d.memory_peers not like '%nv_mem%' and d.gpu_driver_kind = 'proprietary' and c.taints like '%O%'
            then 'loaded, but not registered: rebuild it for the running RDMA stack and load it again'
        when h.virtualization is not null and d.memory_peers is not null and d.gpu_driver_version <> ''
            and i.nic_functions > 0 then ''
    end as refused,
    case d.peermem_module when '' then 'load' else 'boot' end as way
from host_scope as h
inner join host_kind as i on i.target = h.target and (i.nic_functions > 0 or i.nic_functions is null)
left join gpu_direct as d on d.target = h.target
left join kernel_module as c on c.target = h.target and c.name = 'ib_core'
left join named as n on n.target = h.target
left join mismatch as m on m.target = h.target
left join kubelets as j on j.target = h.target
left join kubernetes_node as k on k.target = h.target
where (h.nvidia_gpus > 0 or h.nvidia_gpus is null) and (d.gpu_driver_version <> '' or d.gpu_driver_version is null)
