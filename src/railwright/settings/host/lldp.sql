-- A host of the cabling plan is to announce its ports.
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
    a.now,
    case when p.target is not null then 'on' end as wanted,
    case
        when a.load_state = 'not-found' then 'lldpd is not installed'
        when a.load_state = 'masked' then 'lldpd is masked: it is off on purpose'
        when o.now in ('on', 'running only', 'at boot only') then 'lldpad is there: two agents disturb each other'
        when a.load_state = 'loaded' and (o.load_state = 'not-found' or o.now = 'off') then ''
    end as refused,
    a.now as way
from host_scope as h
left join agents as a on a.target = h.target and a.unit = 'lldpd.service'
left join agents as o on o.target = h.target and o.unit = 'lldpad.service'
left join (select distinct target from planned_link where port <> '') as p on p.target = h.target
