-- What runs on each host.
select o.operating_system, o.kernel, d.version
from page_host as h
left join host as o on o.target = h.target
left join (select target, min(driver_version) as version from gpu group by target) as d on d.target = h.target
order by h.idx
