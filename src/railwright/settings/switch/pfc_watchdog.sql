-- Timers are never made up: those of the port, else what all others of the switch have.
with told as (
    select
        target,
        port,
        max(watchdog) as is_on,
        max(watchdog_detection_ms) as detection,
        max(watchdog_restoration_ms) as restoration,
        max(watchdog_action) as action,
        max(watchdog_history) as keeps_history,
        max(watchdog_priorities) as watched,
        max(pfc_priorities) filter (probe = 'sonic_config_db') as pfc_enable
    from switch_port_qos
    group by target, port
),

common as (
    select target, max(detection) as detection, max(restoration) as restoration, max(action) as action
    from told
    where is_on and port <> ''
    group by target
    having count(distinct detection || ',' || restoration || ',' || action) = 1 and count(detection || ',' || restoration || ',' || action) = count(*)
),

ends as (
    select
        e.*,
        w.system,
        s.pfc_watchdog or e.watchdog_mask <> 0 as is_asked,
        e.watchdog_mask <> 0 as was_on,
        o.pfc_enable,
        o.keeps_history,
        o.watched,
        case when e.watchdog_mask <> 0 then o.detection else c.detection end as detection,
        case when e.watchdog_mask <> 0 then o.restoration else c.restoration end as restoration,
        case when e.watchdog_mask <> 0 then o.action else c.action end as action,
        a.detection > 0 as has_timers
    from end_scope as e
    cross join site as s
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join told as o on o.target = e.target and o.port = e.port
    left join told as a on a.target = e.target and a.port = ''
    left join common as c on c.target = e.target
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
)

select
    target,
    port,
    priorities_of(watchdog_mask) as now,
    case when is_asked then priorities_of(pfc_mask) end as wanted,
    case
        when system = 'onyx' then 'no command for it is documented'
        when pfc_mask = 0 and was_on then 'the port has no PFC any more: stop the watchdog by hand'
        when system <> 'sonic' and was_on and watchdog_mask <> pfc_mask then 'restart the watchdog of the port by hand'
        when system = 'eos' and not has_timers then 'the switch has no timers for it: set priority-flow-control pause watchdog default by hand'
        when system = 'sonic' and pfc_enable = '' then 'SONiC has no PFC set there: set switch.pfc first'
        when system = 'sonic' and keeps_history then 'it keeps pause statistics, which a restart would end: restart it by hand'
        when system = 'sonic' and was_on is not null and (detection is null or restoration is null or restoration = 0 or action is null)
            then 'no port of the switch tells the timers to take'
        when role in ('compute', 'fabric') and was_on is not null and pfc_mask is not null
            and (system <> 'sonic' or (pfc_enable <> '' and watched is not null)) and (system <> 'eos' or has_timers) then ''
    end as refused,
    detection,
    restoration,
    action,
    was_on,
    watched,
    case when watched = '' then false else watched <> priorities_of(pfc_mask) end as moves_list -- older releases have no list
from ends
