-- What the lanes need: RS-FEC from 50 Gb/s per lane (PAM4), and on four lanes of 25G over copper or short optics.
-- Cumulus and EOS tell what is in force, SONiC what is set.
with ends as (
    select
        e.*,
        w.system,
        case
            when w.system = 'sonic' then case when e.fec_asked = '' then 'not set' else e.fec_asked end
            when e.fec_asked <> '' then e.fec_asked
            else e.fec
        end as set_fec,
        case when e.lanes > 0 then e.speed_mbps // e.lanes end as lane_mbps,
        m.standard
    from end_scope as e
    left join (select target, max(system) as system from switch group by target) as w on w.target = e.target
    left join (select target, netdev, max(transceiver_types) as standard from transceiver group by target, netdev) as m
        on m.target = e.peer and m.netdev = e.peer_port and e.trouble in ('', 'one-sided')
    where e.kind = 'switch' and (e.role in ('compute', 'fabric') or e.role is null)
),

needs as (
    select
        *,
        lane_mbps >= 50000
        or (lanes = 4 and lane_mbps = 25000 and standard not like '%without FEC%' and regexp_matches(standard, 'CR4|SR4|CWDM4')) as needs_rs
    from ends
)

select
    target,
    port,
    set_fec as now,
    -- Where the system picks, and picked RS, nothing is to be done.
    case when needs_rs then case when set_fec in ('auto', 'not set') and fec = 'rs' then set_fec else 'rs' end end as wanted,
    case
        when trouble <> '' then 'its link partner is not certain: look first'
        when system = 'onyx' then 'no command for it is documented'
        when not set_fec in ('rs', 'fc', 'none', 'auto', 'not set') then 'its value is not understood'
        when role in ('compute', 'fabric') and trouble = '' then ''
    end as refused,
    set_fec = 'not set' or (system = 'cumulus' and set_fec = 'auto') as is_unset,
    set_fec <> 'not set' and not (system = 'cumulus' and set_fec = 'auto') as is_set
from needs
