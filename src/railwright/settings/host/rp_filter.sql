select
    h.target,
    i.value as now,
    2 as wanted,
    case when i.value = 0 then 'from off to loose is stricter: set it per interface by hand' else '' end as refused
from host_scope as h
left join ip_sysctl as i on i.target = h.target and i.netdev = 'all' and i.name = 'rp_filter'
