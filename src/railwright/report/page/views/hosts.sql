-- Hosts, in the order of the page.
select
    h.target,
    h.status,
    h.out_of_service,
    h.write_gbps,
    h.wire_gbps,
    h.pace_gbps,
    page_level(m.worst, m.unknown > 0, h.status in ('reached', 'incomplete'), h.out_of_service <> '') as level,
    m.failed,
    m.unknown
from page_host as h
inner join page_machine as m on m.target = h.target
order by h.idx
