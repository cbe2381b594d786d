-- The RDMA ports of a host. NULL is what was not read; `-` what a port cannot have.
select
    p.device || case p.port when 1 then '' else '/' || p.port end,
    p.role || case when not p.inferred then ' (site file)' when p.role_dispute <> '' then ' (disputed)' else '' end,
    p.gpu_relation,
    case when p.link_layer <> 'Ethernet' or p.netdev = '' then '-' else q.trust end,
    case when p.link_layer <> 'Ethernet' or p.netdev = '' then '-' else q.priorities end,
    case
        when p.link_layer <> 'Ethernet' or p.netdev = '' then m.fec
        -- The code in full, where it is one of that family.
        when q.fec = 'rs' and m.fec like 'RS(%' then m.fec
        -- Without a link there is none.
        when q.fec is null and m.fec = '' then ''
        else q.fec
    end,
    case when m.part_number_state = 'none' then '' else m.part_number end,
    case when m.temperature_c_state = 'none' then '-' else format('{:.0f} C', m.temperature_c) end
from (from site_port where target = $target) as p
left join (
    select
        p.device,
        p.port,
        case
            when count(q.trust) = count(*) then string_agg(distinct q.trust, ' or ' order by q.trust)
        end as trust,
        case
            when count(q.pfc_mask) = count(*)
                then string_agg(
                    distinct case q.pfc_mask
                        when 0 then 'none'
                        else array_to_string([x for x in range(8) if q.pfc_mask & (1 << x) <> 0], ',')
                    end,
                    ' or '
                )
        end as priorities,
        case when count(l.fec) = count(*) then string_agg(distinct l.fec, ' or ' order by l.fec) end as fec
    from (from port where target = $target) as p
    -- Of a bond its members have the QoS: one that is set otherwise is shown beside the others.
    left join (from bond_member where target = $target) as b on b.bond = p.netdev
    left join (from netdev_qos where target = $target) as q on q.netdev = coalesce(b.member, p.netdev)
    left join (from netdev_link where target = $target) as l on l.netdev = coalesce(b.member, p.netdev)
    group by all
) as q on q.device = p.device and q.port = p.port
left join (from ({modules}) where target = $target) as m on m.pci = p.pci
order by length(p.device), p.device, p.port
