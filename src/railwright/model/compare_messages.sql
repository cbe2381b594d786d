-- The kernel's log is no state but events: told are kinds of which there are more than before, at the thing that they are about.
insert into change
with said as (
    select 'before' as side, target, kind, xid, pci, netdev, device
    from before.kernel_message semi join differing_target using (target)
    union all
    select 'now' as side, target, kind, xid, pci, netdev, device
    from now.kernel_message semi join differing_target using (target)
),

counted as (
    select
        s.target,
        coalesce(nullif(s.pci, ''), n.identity, d.identity, s.netdev, s.device, '') as thing,
        concat_ws(' ', s.kind, s.xid) as what,
        s.kind not in ('firmware', 'pcie_bandwidth', 'module', 'power_ok', 'power_unknown', 'link', 'acs', 'boot') as is_error,
        count(*) filter (s.side = 'before') as b,
        count(*) filter (s.side = 'now') as n
    from said as s
    left join named as n on n.side = s.side and n.kind = 'netdev' and n.target = s.target and n.name = s.netdev
    left join named as d on d.side = s.side and d.kind = 'device' and d.target = s.target and d.name = s.device
    group by all
)

select target, 'kernel_message', 'dmesg', thing, '', what, 1, case when is_error then 'errors' else 'events' end, 'changed', b::varchar, n::varchar
from counted
semi join (from answer where side = 'before' and probe = 'dmesg' and ok) as a using (target)
semi join (from answer where side = 'now' and probe = 'dmesg' and ok) as c using (target)
where n > b
