-- Variables that rules ask to take out or to set; of others a person has to say the value.
with names as (
    select unnest([
        'NCCL_IGNORE_NET_MISMATCH', 'NCCL_CHECKS_DISABLE', 'NCCL_P2P_DISABLE', 'NCCL_SHM_DISABLE', 'NCCL_IB_DISABLE', 'NCCL_NET',
        'NCCL_NET_GDR_LEVEL', 'NCCL_DMABUF_ENABLE', 'NVSHMEM_IB_TRAFFIC_CLASS', 'NCCL_IB_PCI_RELAXED_ORDERING',
        'UCX_IB_PCI_RELAXED_ORDERING', 'NCCL_IB_GID_INDEX', 'NCCL_IB_TC', 'NCCL_IB_ADDR_FAMILY', 'NCCL_IB_HCA', 'NCCL_IB_PKEY',
        'NCCL_IB_QPS_PER_CONNECTION', 'NCCL_IB_ECE_ENABLE', 'UCX_RC_ECE', 'UCX_NET_DEVICES', 'NCCL_SOCKET_IFNAME', 'NCCL_TOPO_FILE',
        'NCCL_ALGO', 'NCCL_PROTO', 'NCCL_NET_GDR_READ'
    ]) as name
),

lines as (
    select
        r.target,
        n.name,
        count(*) filter (s.name = n.name) as lines,
        max(s.value) filter (s.name = n.name and s.precedence = 1) as value,
        max(s.section) filter (s.name = n.name and s.precedence = 1) as section,
        max(s.file) filter (s.name = n.name and s.precedence = 1) as path,
        count(*) filter (s.file is not null and (s.precedence is null or s.value is null)) as unread
    from probe_result as r
    cross join names as n
    left join library_setting as s on s.target = r.target and s.name in ('', n.name)
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target, n.name
),

ports as (
    select
        p.target,
        any_known(p.role = 'compute') as has_compute,
        any_known(p.role = 'compute' and p.link_layer = 'InfiniBand') as has_infiniband,
        any_known(p.role = 'compute' and p.link_layer = 'Ethernet') as has_ethernet,
        all_known(p.role <> 'compute' or t.traffic_class >> 2 = s.data_dscp) as is_forced
    from port_scope as p
    cross join site as s
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
    group by p.target
),

-- Whether on some port the pinned index is empty, link-local, of another network namespace, or RoCE v1.
indexes as (
    select l.target, any_known(g.index is null or g.gid like 'fe80:%' or g.netdev = '' or g.type <> 'RoCE v2') as is_unusable
    from lines as l
    inner join probe_result as r on r.target = l.target and r.probe = 'infiniband' and r.status = 'ok'
    inner join port_scope as p
        on p.target = l.target and p.link_layer = 'Ethernet' and p.role = 'compute' and p.state = 'ACTIVE' and p.netdev <> ''
    left join gid as g on g.target = p.target and g.device = p.device and g.port = p.port and g.index = try_cast(l.value as integer)
    where l.name = 'NCCL_IB_GID_INDEX' and try_cast(l.value as integer) >= 0
    group by l.target
),

judged as (
    select
        l.*,
        case
            when l.name in ('NCCL_IGNORE_NET_MISMATCH', 'NCCL_CHECKS_DISABLE') then h.gpus > 0 and not l.value in ('', '0')
            when l.name in ('NCCL_P2P_DISABLE', 'NCCL_SHM_DISABLE')
                then h.gpus > 1 and h.virtualization <> 'guest' and not l.value in ('', '0')
            when l.name = 'NCCL_IB_DISABLE' then p.has_compute and not l.value in ('', '0')
            when l.name = 'NCCL_NET' then p.has_compute and lower(l.value) = 'socket'
            when l.name = 'NCCL_NET_GDR_LEVEL' then p.has_compute and upper(l.value) in ('LOC', '0')
            when l.name = 'NCCL_DMABUF_ENABLE' then p.has_compute and l.value = '0' and d.peermem_module = ''
            when l.name = 'NVSHMEM_IB_TRAFFIC_CLASS' then p.has_infiniband and not l.value in ('', '0')
            when l.name = 'NCCL_IB_GID_INDEX' then i.is_unusable
            when l.name like '%_IB_PCI_RELAXED_ORDERING'
                then p.has_compute and lower(l.value) in ('0', 'n', 'no', 'off')
                    and (
                        h.virtualization = 'guest'
                        or (c.vendor = 'AuthenticAMD' and (c.family = 23 or (c.family = 25 and c.model_number < 16)))
                        or (c.vendor = 'GenuineIntel' and c.family = 6 and c.model_number = 207)
                    )
                    and (l.name like 'NCCL_%' or c.vendor <> 'AuthenticAMD')
        end as is_wrong,
        l.name = 'NCCL_IB_TC' and s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') and p.has_ethernet and h.gpus > 0
            -- The right DSCP, whatever its two ECN bits, and the driver's own where no GPU drives the NIC.
            and not coalesce(try_cast(l.value as integer) >> 2 = s.data_dscp or (p.is_forced and s.ibgda is not true), false) as is_lossy, -- null: not set
        h.gpus is not null as is_read,
        s.data_dscp
    from lines as l
    cross join site as s
    inner join host_scope as h on h.target = l.target
    left join ports as p on p.target = l.target
    left join indexes as i on i.target = l.target
    left join gpu_direct as d on d.target = l.target
    left join cpu as c on c.target = l.target
)

select
    target,
    name,
    case when unread = 0 then case when lines = 0 then 'not set' when value = '' then 'nothing' else value end end as now,
    case
        when is_wrong then 'not set'
        when is_lossy then (data_dscp * 4 + 2)::varchar
        when not is_wrong or (name = 'NCCL_IB_TC' and not is_lossy) then case when lines = 0 then 'not set' when value = '' then 'nothing' else value end
    end as wanted,
    case
        when lines > 1 then 'set in several places: change it by hand'
        when section <> '' then 'it stands in a section, for some machines only: change it there'
        when not path in ('/etc/nccl.conf', '/etc/ucx/ucx.conf', '/etc/environment') then 'a script sets it: change it there'
        when is_read and (lines = 0 or path is not null) then ''
    end as refused,
    case when is_wrong then 'remove' else 'set' end as way,
    case when lines = 0 then 'nccl.conf' else regexp_extract(path, '[^/]*$') end as file
from judged
where lines > 0 or is_lossy
