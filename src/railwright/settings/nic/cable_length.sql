-- At least what the cable tells of itself, or the cabling plan of it; of optics only their reach is known.
with cables as (
    select
        e.target,
        e.port,
        case when e.cable_length_kind = 'assembly' then e.cable_length_m end as told_m,
        p.length_m as planned_m
    from end_scope as e
    left join end_plan as p on p.target = e.target and p.port = e.port
    where e.kind = 'host'
),

lengths as (
    select
        p.*,
        f.vendor,
        case when q.cable_length_m <> d.delay then null when q.cable_length_m is null then d.delay else q.cable_length_m end as now,
        ceil(case when c.told_m is null or c.planned_m > c.told_m then c.planned_m else c.told_m end)::integer as needed_m
    from port_qos as p
    inner join port_scope as f on f.target = p.target and f.device = p.device and f.port = p.port
    left join netdev_qos as q on q.target = p.target and q.netdev = p.netdev
    left join dcb_pfc as d on d.target = p.target and d.netdev = p.netdev
    left join cables as c on c.target = p.target and c.port = p.netdev
)

select
    target,
    netdev as name,
    now,
    case when now >= needed_m then now when needed_m > 0 then needed_m end as wanted,
    case
        when is_of_other_vendor(vendor) then 'only mlx5 keeps a cable length'
        when needed_m > 999 then 'the driver takes at most 999 m'
        when now = 0 then 'it is unset: 0 could not be written back'
        when dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when lldpad_running then 'lldpad owns it: stop it first'
        when role = 'compute' and vendor is not null then ''
    end as refused,
    priorities_of(pfc_mask) as pfc,
    device,
    port,
    pci
from lengths
where link_layer = 'Ethernet' and netdev <> '' and (role = 'compute' or role is null)
