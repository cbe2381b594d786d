-- Priorities to buffers, and the size of each buffer.
with priorities as (
    select target, netdev, string_agg(buffer, ',' order by priority) as buffers, count(buffer) as known
    from dcb_buffer_priority
    group by target, netdev
),

sizes as (
    select target, netdev, string_agg(size_bytes, ',' order by buffer) as sizes, count(size_bytes) as known
    from dcb_buffer
    group by target, netdev
)

select
    p.target,
    p.netdev as name,
    case when u.known = 8 and b.known = 8 then u.buffers || ':' || b.sizes end as now,
    -- The site file has no key for it: fabric.receive_buffers would be needed.
    null::varchar as wanted,
    case
        when p.dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when p.lldpad_running then 'lldpad owns it: stop it first'
        when p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_qos as p
left join priorities as u on u.target = p.target and u.netdev = p.netdev
left join sizes as b on b.target = p.target and b.netdev = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
