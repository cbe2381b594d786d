-- Up where the site file calls the port compute: an inferred role is not reason enough to undo what a person did.
select
    p.target,
    p.netdev as name,
    -- The lowest bit (IFF_UP).
    case
        when regexp_matches(n.flags, '^0x[0-9a-f]*[13579bdf]$') then 'up'
        when regexp_matches(n.flags, '^0x[0-9a-f]*[02468ace]$') then 'down'
    end as now,
    case when not p.inferred then 'up' end as wanted,
    case when p.role = 'compute' then '' end as refused,
    p.device,
    p.port,
    p.pci
from port_link as p
left join netdev as n on n.target = p.target and n.name = p.netdev
where p.link_layer = 'Ethernet' and p.netdev <> '' and (p.role = 'compute' or p.role is null)
