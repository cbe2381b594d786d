-- Of both, RoCE goes by the DSCP, and as the device has it is by PCP.
select
    p.target,
    p.pci,
    p.name,
    p.port,
    p.element,
    p.code as now,
    case
        when p.is_named then p.wanted_code
        when (s.trust = 'dscp' and p.code = 3) or (s.trust = 'pcp' and p.code = 0) then p.code
        when s.trust = 'dscp' then 2
        when s.trust = 'pcp' then 1
    end as wanted,
    case
        when p.is_named and (s.trust = 'dscp') <> (p.wanted_code in (2, 3)) then 'the site file has another trust mode for the fabric'
        when p.role in ('compute', 'management') or p.role is null then p.refused
    end as refused,
    p.parameter,
    p.device
from stored_parameter as p
cross join site as s
where p.name = 'QOS_TRUST_STATE' and p.link_layer = 'Ethernet' and (p.is_named or p.role = 'compute' or p.role is null)
