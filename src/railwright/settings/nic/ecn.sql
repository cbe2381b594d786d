-- All sixteen files of a device are one setting: the firmware of today takes the eight priorities as one.
with masks as (
    select target, netdev, role, mask_known(enabled, priority) as mask
    from ecn_priority
    group by target, netdev, role
),

loop as (
    select target, netdev, max(mask) filter (role = 'rp') as rp, max(mask) filter (role = 'np') as np
    from masks
    group by target, netdev
)

select
    p.target,
    p.netdev as name,
    case
        when e.rp = 255 and e.np = 255 then 'on'
        when e.rp = 0 and e.np = 0 then 'off'
        else 'reaction point ' || priorities_of(e.rp) || ', notification point ' || priorities_of(e.np)
    end as now,
    -- Where NICs need not react, both ways are fine if all are alike.
    case when s.ecn then 'on' when not s.ecn and e.rp = e.np and e.rp in (0, 255) then now end as wanted,
    case
        when s.programmable_cc or u.current_code = 1 then 'a program on the card controls congestion: these files do not count'
        when u.target is not null and u.current_code is null then null
        when p.role = 'compute' then ''
    end as refused,
    e.rp & 1 as rp_zero, (e.rp >> 1) & 1 as rp_one, (e.rp >> 2) & 1 as rp_two, (e.rp >> 3) & 1 as rp_three,
    (e.rp >> 4) & 1 as rp_four, (e.rp >> 5) & 1 as rp_five, (e.rp >> 6) & 1 as rp_six, (e.rp >> 7) & 1 as rp_seven,
    e.np & 1 as np_zero, (e.np >> 1) & 1 as np_one, (e.np >> 2) & 1 as np_two, (e.np >> 3) & 1 as np_three,
    (e.np >> 4) & 1 as np_four, (e.np >> 5) & 1 as np_five, (e.np >> 6) & 1 as np_six, (e.np >> 7) & 1 as np_seven,
    p.device,
    p.port,
    p.pci
from port_link as p
cross join site as s
left join loop as e on e.target = p.target and e.netdev = p.netdev
left join nic_parameter as u
    on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
