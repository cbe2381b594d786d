-- Each finding with the rows of its setting that it is about: by the first name that both have. What is said of a machine
-- as a whole is about all of them there.
create temp table picked as
select
    r.*,
    a.rule,
    a.subject as found_at,
    a.severity,
    a.rank,
    a.cost_gbps / count(*) over (partition by r.setting, a.rule, a.subject) as cost_share
from asked as a
inner join mends as m on m.rule = a.rule
inner join change_row as r on r.setting = m.setting and r.target = a.target
where case
    when a.kind in ('host', 'switch') then true
    when a.switch_port is not null and r.switch_port is not null then a.switch_port = r.switch_port
    when a.device is not null and r.device is not null then a.device = r.device and (a.port = r.port or a.port is null or r.port is null)
    when a.netdev is not null and r.netdev is not null then a.netdev = r.netdev
    when a.pci is not null and r.pci is not null then a.pci = r.pci
    else true
end
-- Of several things that a finding may be about, those that are as wanted are not what it found.
qualify r.state <> 'leave' or count(*) filter (r.state <> 'leave') over (partition by a.rule, a.subject) = 0;
