-- Of a bond each member has its own. Where the site does not say: PFC on a priority other than 0, and no GID on a VLAN, needs dscp.
with vlan as (
    select g.target, g.device, g.port, any_known(g.netdev <> '' and g.netdev <> p.netdev) as is_tagged
    from gid as g
    inner join port_scope as p on p.target = g.target and p.device = g.device and p.port = g.port
    group by g.target, g.device, g.port
)

select
    p.target,
    p.netdev as name,
    p.trust as now,
    case
        when s.trust is not null then s.trust
        when p.pfc_mask > 1 and (p.pfc_mask & 1) = 0 and not v.is_tagged then 'dscp'
    end as wanted,
    case
        when p.dcbx_mode = 'Firmware' then 'firmware DCBX owns it: set nic.dcbx first'
        when p.lldpad_running then 'lldpad owns it: stop it first'
        -- mlnx_qos --trust dscp writes the default map: another one would not come back.
        when s.trust = 'pcp' and p.trust = 'dscp'
            and p.dscp_priorities <> '0000000011111111222222223333333344444444555555556666666677777777'
            then 'pcp drops its DSCP map, which is not the default one'
        when s.trust = 'pcp' and p.trust = 'dscp' and p.dscp_priorities is null then null
        when p.role = 'compute' then ''
    end as refused,
    p.device,
    p.port,
    p.pci
from port_qos as p
cross join site as s
left join vlan as v on v.target = p.target and v.device = p.device and v.port = p.port
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
