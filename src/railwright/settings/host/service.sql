-- lldpad takes over DCBX: it must be off where the host owns QoS.
with agents as (
    select
        target,
        unit,
        load_state,
        case
            when active_state = 'active' and unit_file_state = 'enabled' then 'on'
            when active_state = 'active' and unit_file_state = 'disabled' then 'running only'
            when active_state in ('inactive', 'failed') and unit_file_state = 'enabled' then 'at boot only'
            when active_state in ('inactive', 'failed') and unit_file_state = 'disabled' then 'off'
        end as now
    from service
)

select
    h.target,
    case when a.load_state in ('not-found', 'masked') then 'off' else a.now end as now,
    case when s.dcbx_owner = 'host' then 'off' end as wanted,
    case when a.load_state in ('loaded', 'not-found', 'masked') then '' end as refused,
    a.now as way
from host_scope as h
cross join site as s
left join agents as a on a.target = h.target and a.unit = 'lldpad.service'
