with ports as (
    select
        target,
        any_known(role = 'compute') as has_compute,
        any_known(role = 'compute' and link_layer = 'InfiniBand') as has_infiniband
    from port_scope
    group by target
),

-- A node shows that the module is there, also one that is built in.
loaded as (
    select
        r.target,
        count(m.name) filter (m.name = 'ib_uverbs') > 0 or count(v.name) filter (v.kind = 'uverbs') > 0 as uverbs,
        count(m.name) filter (m.name = 'ib_umad') > 0 or count(v.name) filter (v.kind = 'umad') > 0 as umad
    from probe_result as r
    inner join probe_result as i on i.target = r.target and i.probe = 'infiniband' and i.status = 'ok'
    left join kernel_module as m on m.target = r.target
    left join rdma_node as v on v.target = r.target
    where r.probe = 'modules' and r.status = 'ok'
    group by r.target
)

select
    p.target,
    case
        when l.uverbs and l.umad and p.has_infiniband then 'ib_uverbs,ib_umad'
        when l.uverbs then 'ib_uverbs'
        when l.umad and p.has_infiniband then 'ib_umad'
        when l.target is not null and p.has_infiniband is not null then 'none'
    end as now,
    case when p.has_infiniband then 'ib_uverbs,ib_umad' when not p.has_infiniband then 'ib_uverbs' end as wanted,
    case when p.has_compute then '' end as refused,
    case when p.has_infiniband and not l.uverbs and not l.umad then 'both' else 'one' end as way,
    case when not l.uverbs then 'ib_uverbs' else 'ib_umad' end as module
from ports as p
left join loaded as l on l.target = p.target
where p.has_compute is not false
