-- Where findings are: the RDMA device, network device and PCI function of a subject, its rail and its link partner.
-- What more than one thing would answer to stays NULL. Tables at hand: finding, rule_info, site_port, netdev, rdma_device,
-- link_end.

-- What a subject names, by its kind.
create temp table spot as
with said as (
    select distinct r.kind, f.target, f.subject, substr(f.subject, length(f.target) + 2) as rest
    from finding as f
    inner join rule_info as r on r.rule = f.rule
    where f.subject <> f.target and f.subject <> f.target || ':*'
)

select
    kind,
    target,
    subject,
    case when kind in ('port', 'gid', 'rdma_device') then regexp_extract(rest, '^[^/\[]+') end as device,
    case when kind in ('port', 'gid') then try_cast(regexp_extract(rest, '/([0-9]+)', 1) as integer) end as port,
    case kind when 'netdev' then rest when 'priority' then regexp_replace(rest, '#[^#]*$', '') end as netdev,
    case
        when kind in ('nic', 'pci_function', 'gpu', 'parameter', 'gpu_nic')
            then nullif(regexp_extract(rest, '([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(:[A-Z].*)?$', 1), '')
    end as pci,
    case when kind = 'end' then rest end as end_port,
    -- What of a subject is no device: a parameter, an entry, a priority.
    case kind
        when 'gid' then regexp_extract(rest, '\[([^\[]*)\]$', 1)
        when 'priority' then regexp_extract(rest, '#([^#]*)$', 1)
        when 'parameter' then regexp_extract(rest, '\.[0-7]:(.*)$', 1)
        when 'gpu_nic' then regexp_extract(rest, '^([^+]*)\+', 1)
    end as part
from said;

-- An end of a host is its network device; a member of a bond has the PCI function of its own.
create temp table spot_name as
select
    s.kind,
    s.target,
    s.subject,
    coalesce(s.device, nullif(e.device, '')) as device,
    coalesce(s.port, case when e.device <> '' then e.device_port end) as port,
    coalesce(s.netdev, case when e.kind = 'host' then s.end_port end) as netdev,
    coalesce(s.pci, nullif(n.pci, ''), nullif(r.pci, '')) as pci,
    case when e.kind = 'switch' then s.end_port end as switch_port,
    s.part
from spot as s
left join link_end as e on e.target = s.target and e.port = s.end_port
left join netdev as n on n.target = s.target and n.name = coalesce(s.netdev, s.end_port)
left join rdma_device as r on r.target = s.target and r.device = coalesce(s.device, e.device);

create temp table spot_port as
select s.kind, s.subject, p.device, p.port, p.netdev, p.pci, p.rail
from spot_name as s
inner join site_port as p
    on p.target = s.target
    and case
        when s.device is not null then p.device = s.device and p.port = coalesce(s.port, p.port)
        when s.netdev is not null then p.netdev = s.netdev or p.pci = s.pci
        else p.pci = s.pci
    end
where s.switch_port is null and s.kind <> 'gpu';

-- Only what is the same of all of them.
create temp macro the_only(value) as case when count(distinct value) = 1 then min(value) end;

create temp table spot_device as
select
    s.kind,
    s.target,
    s.subject,
    s.switch_port,
    s.part,
    coalesce(s.device, the_only(p.device)) as device,
    coalesce(s.port, the_only(p.port)) as port,
    coalesce(s.netdev, nullif(the_only(p.netdev), '')) as netdev,
    coalesce(s.pci, the_only(p.pci)) as pci,
    the_only(p.rail) as rail
from spot_name as s
left join spot_port as p on p.kind = s.kind and p.subject = s.subject
group by s.kind, s.target, s.subject, s.switch_port, s.part, s.device, s.port, s.netdev, s.pci;

create temp table spot_link as
select
    s.kind,
    s.subject,
    the_only(e.peer) as partner,
    the_only(e.peer || case when e.peer_port = '' then '' else ':' || e.peer_port end) as link_partner,
    nullif(the_only(o.device), '') as partner_device,
    the_only(p.rail) as partner_rail
from spot_device as s
inner join link_end as e
    on e.target = s.target and e.peer <> ''
    -- The members of a bond have ends of their own.
    and e.port = coalesce(s.switch_port, s.netdev, e.port)
    and (s.switch_port is not null or s.netdev is not null or (e.device = s.device and e.device_port = coalesce(s.port, e.device_port)))
left join link_end as o on o.target = e.peer and o.port = e.peer_port and o.kind = 'host'
left join site_port as p on p.target = o.target and p.device = o.device and p.port = o.device_port
group by s.kind, s.subject;

create temp table finding_place as
select
    s.kind,
    s.target,
    s.subject,
    s.device,
    s.port,
    s.netdev,
    s.pci,
    s.switch_port,
    s.part,
    coalesce(s.rail, l.partner_rail) as rail,
    l.partner,
    l.link_partner,
    l.partner_device
from spot_device as s
left join spot_link as l on l.kind = s.kind and l.subject = s.subject;

create temp view placed as
select f.*, r.kind, p.* exclude (kind, target, subject)
from finding as f
inner join rule_info as r on r.rule = f.rule
left join finding_place as p on p.kind = r.kind and p.target = f.target and p.subject = f.subject;
