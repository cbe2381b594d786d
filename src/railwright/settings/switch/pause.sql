select
    e.target,
    e.port,
    case
        when e.pause_rx and e.pause_tx then 'rx,tx'
        when e.pause_rx and not e.pause_tx then 'rx'
        when e.pause_tx and not e.pause_rx then 'tx'
        when not e.pause_rx and not e.pause_tx then 'off'
    end as now,
    case when s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') or e.pfc_mask <> 0 then 'off' end as wanted,
    case
        when w.system = 'sonic' then 'SONiC has no field for it in common use'
        when w.system = 'cumulus' and (e.pause_rx or e.pause_tx) then 'which link-pause profile it has was not read, so it could not be put back'
        when e.role in ('compute', 'fabric') then ''
    end as refused,
    case when e.pause_rx then 'on' when not e.pause_rx then 'off' end as rx,
    case when e.pause_tx then 'on' when not e.pause_tx then 'off' end as tx
from end_scope as e
cross join site as s
left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
