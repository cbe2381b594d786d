-- Of the whole map the one entry that the site names: where its data goes.
with data as (
    select
        p.*,
        s.data_priority,
        case
            when s.data_dscp is not null then s.data_dscp
            when t.traffic_class >= 0 then t.traffic_class >> 2
        end as dscp
    from port_qos as p
    cross join site as s
    left join roce_tos as t on t.target = p.target and t.device = p.device and t.port = p.port
)

select
    target,
    netdev as name,
    priority_of(dscp_priorities, dscp) as now,
    case when dscp is not null then data_priority end as wanted,
    case
        when trust = 'pcp' then 'it trusts pcp and has no map: set nic.trust first'
        when dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when lldpad_running then 'lldpad owns it: stop it first'
        when role = 'compute' then ''
    end as refused,
    dscp,
    device,
    port,
    pci
from data
where link_layer = 'Ethernet' and netdev <> '' and (role = 'compute' or role is null)
