-- Of a bond each member has its own. What a host needs is the priority of its data, where the site says which; of the others
-- that are lossless it may have any.
select
    p.target,
    p.netdev as name,
    priorities_of(p.pfc_mask) as now,
    priorities_of(case
        when s.needed & (255 - p.pfc_mask) <> 0 then s.needed
        when p.pfc_mask & (255 - s.pfc_mask) = 0 then p.pfc_mask
        else s.pfc_mask
    end) as wanted,
    case
        when p.dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when p.lldpad_running then 'lldpad owns it: stop it first'
        when p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_qos as p
cross join (
    select pfc_mask, case when data_priority is null then pfc_mask else pfc_mask & (1 << data_priority) end as needed
    from site
) as s
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
