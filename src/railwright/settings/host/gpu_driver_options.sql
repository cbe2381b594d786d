with options as (
    select
        target,
        max(value) filter (name = 'EnableStreamMemOPs') as stream_operations,
        max(value) filter (name = 'RegistryDwords') as registry
    from gpu_driver
    group by target
),

judged as (
    select
        *,
        stream_operations = '1' and regexp_matches(registry, '(^|[;, ])PeerMappingOverride=1($|[;, ])') as is_good,
        'EnableStreamMemOPs ' || stream_operations || ' and RegistryDwords "' || registry || '"' as words
    from options
),

kubelets as (select distinct target from job_daemon where unit = 'kubelet.service')

select
    h.target,
    case when o.is_good then 'EnableStreamMemOPs 1 and PeerMappingOverride=1' when not o.is_good then o.words end as now,
    case when s.ibgda then 'EnableStreamMemOPs 1 and PeerMappingOverride=1' end as wanted,
    case
        when k.node is not null or j.target is not null then 'a Kubernetes node: the driver container of the GPU operator has the options'
        when not o.registry in ('', 'PeerMappingOverride=1;', 'PeerMappingOverride=1')
            then 'RegistryDwords has other options, which a second file would replace: add PeerMappingOverride=1 to them'
        when boot_tools(b.operating_system) = '' then 'how its initramfs is built is not known here: add the options by hand'
        when d.gpu_driver_version <> '' and o.registry is not null and b.operating_system is not null then ''
    end as refused,
    boot_tools(b.operating_system) as way
from host_scope as h
cross join site as s
left join gpu_direct as d on d.target = h.target
left join judged as o on o.target = h.target
left join host as b on b.target = h.target
left join kubelets as j on j.target = h.target
left join kubernetes_node as k on k.target = h.target
where
    (h.nvidia_gpus > 0 or h.nvidia_gpus is null)
    and (h.architecture = 'x86_64' or h.architecture is null)
    and (d.gpu_driver_version <> '' or d.gpu_driver_version is null)
