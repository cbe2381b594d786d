-- 26 and 48 are what most RoCE sites use for data and for congestion notifications.
select
    p.target,
    q.trust,
    case
        when q.pfc_mask = 0 then 'none'
        when q.pfc_mask > 0 then array_to_string([x for x in range(8) if q.pfc_mask & (1 << x) <> 0], ',')
    end as paused,
    case when q.trust = 'pcp' then '-' else nullif(nullif(q.dscp_priorities[27], '.'), '?') end as dscp_26,
    case when q.trust = 'pcp' then '-' else nullif(nullif(q.dscp_priorities[49], '.'), '?') end as dscp_48
from (
    from port
    where link_layer is distinct from 'InfiniBand' and netdev is distinct from ''
) as p
-- Of a bond the members are listed.
left join bond_member as b on b.target = p.target and b.bond = p.netdev
left join netdev_qos as q on q.target = p.target and q.netdev = coalesce(b.member, p.netdev)
