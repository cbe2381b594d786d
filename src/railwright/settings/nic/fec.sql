-- RS where four lanes of 25G run without and their cable needs it; the link partner's where this end alone is unlike its peers.
with usual as (
    select cohort, usual_of(fec) as fec
    from grouped_end
    group by cohort
),

ends as (
    select
        e.*,
        blame(e.fec, e.other_fec, null, null, u.fec, o.fec) as whom,
        case e.other_fec when 'rs' then 'rs' when 'fc' then 'baser' when 'none' then 'off' end as partner
    from end_pair as e
    left join usual as u on u.cohort = e.cohort
    left join usual as o on o.cohort = e.other_cohort
    where e.kind = 'host'
),

links as (
    select
        l.*, p.role, p.device_id, k.fec, e.whom, e.partner, e.speed_mbps / e.lanes as lane_mbps,
        case when f.configured in ('Auto', 'Off', 'RS', 'BaseR', 'LLRS') then lower(f.configured) end as now,
        case when m.module_compliance <> '' then m.module_compliance else t.transceiver_types end as standard,
        p.state = 'ACTIVE' and r.rate_text like '%(4X EDR)' and case
            when standard like '%without FEC%' then false
            when regexp_matches(standard, 'CR4|SR4|CWDM4') then true
            when standard <> '' then false
            when m.cable_type = 'Passive copper cable' then true
        end as needs_rs
    from port_function as l
    inner join port_scope as p on p.target = l.target and p.device = l.device and p.port = l.port
    left join ends as e on e.target = l.target and e.port = l.netdev
    left join rdma_port as r on r.target = l.target and r.device = l.device and r.port = l.port
    left join netdev_fec as f on f.target = l.target and f.netdev = l.netdev
    left join netdev_link as k on k.target = l.target and k.netdev = l.netdev
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
    left join transceiver as t on t.target = l.target and t.netdev = l.netdev
)

select
    target,
    netdev as name,
    now,
    case
        when needs_rs and fec = 'none' then 'rs'
        when whom = 'this end' then partner
        when whom in ('', 'other end') then now
    end as wanted,
    case
        when is_virtual_function(device_id) then 'a virtual function has no link of its own'
        when partner is null then 'its link partner was not read: both ends need the same FEC'
        when wanted = 'off' and (lane_mbps <= 25000) is not true then 'lanes above 25 Gb/s have no link without FEC'
        when role = 'compute' and device_id is not null then ''
    end as refused,
    device,
    port,
    pci
from links
where link_layer = 'Ethernet' and netdev <> '' and (role = 'compute' or role is null)
