-- The priority group of RoCE data on SONiC with the dynamic buffer model, where headroom can follow speed and cable.
with boxes as (
    select target, max(system) as system, max(buffer_model) as buffer_model from switch group by target
),

groups as (
    select
        target,
        port,
        priority_group,
        max(profile) filter (probe = 'sonic_config_db') as profile,
        count(*) filter (probe = 'sonic_config_db') > 0 as is_configured
    from switch_priority_group
    group by target, port, priority_group
),

ends as (
    select
        e.*,
        w.system,
        w.buffer_model,
        s.data_priority,
        c.pfc,
        c.priority_group,
        c.is_lossless,
        c.headroom_bytes,
        c.has_shared_headroom,
        g.profile,
        g.is_configured,
        q.pfc_priorities,
        -- The reach of an optic is not a length.
        case when e.cable_length_kind in ('assembly', 'configured') then spectrum_xoff(h.generation, e.speed_mbps, e.cable_length_m, e.mtu) end as needed
    from end_scope as e
    cross join site as s
    left join boxes as w on w.target = e.target
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = s.data_priority
    left join groups as g on g.target = e.target and g.port = e.port and g.priority_group = c.priority_group
    left join switch_chip as h on h.target = e.target
    left join (select target, port, max(pfc_priorities) as pfc_priorities from switch_port_qos where probe = 'sonic_config_db' group by target, port)
        as q on q.target = e.target and q.port = e.port
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
)

select
    target,
    port,
    case when not is_lossless then 'none' when is_lossless and profile <> '' then profile when is_lossless then 'automatic' end as now,
    case
        when data_priority is null then null
        when is_lossless is null or not is_lossless or (headroom_bytes = 0 and not has_shared_headroom) or headroom_bytes < needed then 'automatic'
        when headroom_bytes >= needed then coalesce(nullif(profile, ''), 'automatic') -- null: the switch works it out
        when is_lossless and profile is null then 'automatic'
    end as wanted,
    case
        when system in ('cumulus', 'onyx') then 'the switch works headroom out: see switch.cable_length'
        when system = 'eos' then 'no command for it is documented'
        when buffer_model <> 'dynamic' then 'the buffer model is traditional: headroom comes from pg_profile_lookup.ini'
        when not pfc then 'its priority has no PFC: set switch.pfc first'
        when not is_lossless and is_configured then 'its priority group has a lossy profile of its own: replace that by hand'
        when role in ('compute', 'fabric') and system = 'sonic' and buffer_model = 'dynamic' and pfc and is_lossless is not null
            and priority_group is not null and pfc_priorities <> '' then ''
    end as refused,
    priority_group,
    profile,
    pfc_priorities,
    not is_lossless as is_new,
    is_lossless as is_old
from ends
