-- Only a host that sends larger packets than its switch port takes, and only downwards: raising is switch.mtu, then netdev.mtu.
with usual as (
    select cohort, usual_of(mtu) as mtu
    from grouped_end
    group by cohort
),

pairs as (
    select
        e.*, s.netdev_mtu, s.switch_mtu, u.mtu as usual_mtu,
        case e.kind when 'host' then e.mtu > e.other_mtu when 'switch' then e.other_mtu > e.mtu end as is_larger,
        blame(
            e.mtu, e.other_mtu,
            case when e.kind = 'host' then s.netdev_mtu else s.switch_mtu end,
            case when e.kind = 'host' then s.switch_mtu else s.netdev_mtu end,
            u.mtu, o.mtu
        ) as whom
    from end_pair as e
    cross join site as s
    left join usual as u on u.cohort = e.cohort
    left join usual as o on o.cohort = e.other_cohort
)

select
    p.target,
    p.port,
    p.mtu as now,
    case
        when not p.is_larger or p.whom = 'other end' then p.mtu
        when p.kind = 'host' and p.whom = 'this end' and p.netdev_mtu is not null
            then case when p.netdev_mtu <= p.other_mtu then p.netdev_mtu end
        when p.kind = 'host' and p.whom = 'this end' and p.usual_mtu <= p.other_mtu then p.usual_mtu
        when p.kind = 'host' and p.whom = 'this end' and p.switch_mtu = p.other_mtu then p.other_mtu
    end as wanted,
    case
        when p.kind = 'switch' and p.is_larger and is_blamed(p.whom) then 'this end is a switch port: set switch.mtu'
        when p.kind = 'switch' then ''
        when n.master <> '' then 'a bond has it: set netdev.mtu'
        when p.kind = 'host' and p.role = 'compute' and n.master = '' then ''
    end as refused,
    p.device
from pairs as p
left join netdev as n on n.target = p.target and n.name = p.port and p.kind = 'host'
where p.peer_kind in ('host', 'switch') and (p.role = 'compute' or p.role is null)
