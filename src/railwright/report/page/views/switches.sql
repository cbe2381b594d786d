-- Switches, also those that were only heard of, in the order of the page.
select
    s.target,
    s.status,
    s.tier,
    s.rail,
    s.plane,
    s.pod,
    s.down_links,
    s.up_links,
    s.down_mbps,
    s.up_mbps,
    s.system,
    s.model,
    page_level(m.worst, m.unknown > 0, s.status in ('reached', 'incomplete'), s.out_of_service <> '') as level,
    m.failed,
    m.unknown
from page_switch as s
inner join page_machine as m on m.target = s.target
order by s.idx
