-- Cards that are not this host's alone, or that storage runs on: nothing that stops such a card is planned.
create temp table card_guard as
with image as (
    select distinct c.target, c.card, r.sign
    from (
        select target, pci, 'image ' || sys_image_guid as sign from rdma_device where regexp_matches(sys_image_guid, '[1-9a-z]')
        union
        select target, pci, 'serial ' || serial_number from devlink_device where serial_number <> ''
    ) as r
    inner join card_member as c on c.target = r.target and c.pci = r.pci
),

bluefield as (
    select m.target, m.card, any_known(p.current_code is null) as is_open, any_known(p.current_code = 0) as is_of_arm
    from card_member as m
    inner join pci_function as f on f.target = m.target and f.pci = m.pci and f.device in ('a2d2', 'a2d6', 'a2dc', 'a2df')
    left join (
        select target, split_part(pci, '.', 1) as slot, min(current_code) as current_code
        from nic_parameter
        where name = 'INTERNAL_CPU_OFFLOAD_ENGINE'
        group by all
    ) as p on p.target = m.target and p.slot = m.slot
    group by m.target, m.card
)

select t.setting, t.target, t.subject, 'another host has the same card: ' || min(o.target) as why
from touched_card as t
inner join image as i on i.target = t.target and i.card = t.card
inner join image as o on o.sign = i.sign and o.target <> i.target
group by t.setting, t.target, t.subject

union all

select t.setting, t.target, t.subject, 'a Socket Direct card: its other half goes down too'
from touched_card as t
inner join card_member as m on m.target = t.target and m.card = t.card and t.card <> 'all'
group by t.setting, t.target, t.subject
having count(distinct m.slot) > 1

union all

select t.setting, t.target, t.subject,
    case
        when b.is_of_arm then 'a BlueField in DPU mode: its Arm side has the card'
        else 'a BlueField: whether its Arm side has the card is unknown (INTERNAL_CPU_OFFLOAD_ENGINE)'
    end
from touched_card as t
inner join bluefield as b on b.target = t.target and b.card = t.card and (b.is_of_arm or b.is_open)

union all

-- Storage by RDMA hangs if its card goes (incident I-092).
select t.setting, t.target, t.subject,
    case
        when k.name is null then 'whether storage runs over RDMA is unknown: modules ' || case when r.status is null then 'not collected' else r.status end
        else 'storage runs over RDMA: ' || k.name || case when k.reference_count is null then ' may be in use' else ' is in use' end
    end
from touched_card as t
left join probe_result as r on r.target = t.target and r.probe = 'modules'
left join kernel_module as k
    on k.target = t.target
    and k.name in ('nvme_rdma', 'ib_iser', 'ib_isert', 'ib_srp', 'ib_srpt', 'rpcrdma', 'xprtrdma', 'svcrdma', 'ko2iblnd', 'nvmet_rdma')
    and (k.reference_count > 0 or k.reference_count is null)
where k.name is not null or coalesce(r.status, '') <> 'ok'; -- null: never asked
