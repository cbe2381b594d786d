-- Everything here is what one host can tell: roles, rails and planes are inferred and say why.
with answered as (
    select
        target,
        bool_or(probe = 'pci' and status = 'ok') as pci,
        bool_or(probe = 'ip_address' and status = 'ok') as addresses,
        bool_or(probe = 'ip_route' and status = 'ok') as routes
    from probe_result
    where probe in ('pci', 'ip_address', 'ip_route')
    group by target
),

-- Two netdevs of one function and port (a representor beside its uplink) leave it open which it is.
of_function as (
    select target, pci, dev_port, case when count(*) = 1 then any_value(name) end as name
    from netdev
    where kind = 'physical' and pci <> '' and port_name not like 'pf%vf%'
    group by all
),

physical as (
    select
        p.target,
        p.read_at,
        p.device,
        p.port,
        d.pci,
        case
            when d.sys_image_guid is not null then min(d.pci) over (partition by p.target, d.sys_image_guid)
        end as card,
        d.psid,
        coalesce(nullif(p.netdev, ''), nullif(l.netdev, ''), n.name, p.netdev, l.netdev) as netdev,
        p.link_layer,
        p.state,
        p.rate_gbps
    from rdma_port as p
    inner join rdma_device as d on d.target = p.target and d.device = p.device
    left join rdma_link as l on l.target = p.target and l.device = p.device and l.port = p.port
    left join of_function as n on n.target = p.target and n.pci = d.pci and n.dev_port = p.port - 1
    left join pci_function as f on f.target = p.target and f.pci = d.pci
    where coalesce(f.physical_function, '') = '' -- null: without a PCI function it is no virtual one
),

addressed as (
    select target, netdev, bool_or(scope = 'global') as is_addressed from address group by all
),

default_route as (
    select distinct target, netdev from route where destination = 'default' and routing_table = 'main'
),

near as (
    select
        target,
        nic,
        min(distance) as distance,
        arg_min(relation, distance) as relation,
        case
            when count(is_nearest) = count(*)
                then coalesce(string_agg(gpu, ',' order by gpu) filter (is_nearest), '') -- null: none nearest
        end as nearest_gpus,
        count(distance) = count(*) as is_known
    from gpu_nic
    group by all
),

-- The kind of port that carries most of the host: without PCIe switches this is what GPUs talk through.
kinds as (
    select target, psid, rate_gbps, sum(rate_gbps) as total
    from physical
    where state = 'ACTIVE'
    group by all
),

main_kind as (
    select
        target,
        -- A card that trained at half its rate is still of its kind.
        count(distinct psid) = 1 and count(psid) = count(*) as is_only,
        arg_max(psid, row(total, psid)) as psid,
        arg_max(rate_gbps, row(total, psid)) as rate_gbps
    from kinds
    group by target
),

card_kinds as (
    select target, count(psid) = count(*) and count(distinct psid) = 1 as is_only from physical group by target
),

judged as (
    select
        p.*,
        k.kind,
        n.nearest_gpus,
        case when k.gpus = 0 then '' else n.relation end as gpu_relation,
        case
            when r.netdev is not null then ['management', 'the default route goes through ' || p.netdev]
            when p.state = 'DOWN' and a.addresses and coalesce(ad.is_addressed, false) is false -- null: no row
                then ['unused', 'down and without an address']
            when p.state is null then [null, 'its state was not read']
            when k.gpus is null then [null, 'the PCI functions were not read']
            when k.gpus = 0 then [null, 'no GPU on this host to tell by']
            when not a.routes then [null, 'the routes were not read']
            when n.distance <= 1 then ['compute', n.relation || ' to a GPU']
            when exists (from near as o where o.target = p.target and o.distance <= 1)
                then ['storage', 'other ports are nearer to the GPUs']
            when m.is_only and p.psid = m.psid then ['compute', 'the only kind of RDMA port of this host']
            -- A host whose links are all down has no rates to tell by.
            when m.target is null and c.is_only then ['compute', 'the only kind of RDMA card of this host']
            when n.is_known is not true then [null, 'how near the GPUs are is not known']
            -- A port that is down prints a rate that is not its own: its card's type has to do.
            when p.psid = m.psid and (p.rate_gbps = m.rate_gbps or p.state = 'DOWN')
                then ['compute', 'of the kind that carries most of this host']
            when m.target is null then [null, 'no port is up to tell by']
            else ['storage', 'not of the kind that carries most of this host']
        end as told
    from physical as p
    left join answered as a on a.target = p.target
    left join host_kind as k on k.target = p.target
    left join addressed as ad on ad.target = p.target and ad.netdev = p.netdev
    left join default_route as r on r.target = p.target and r.netdev = p.netdev and p.netdev <> ''
    left join near as n on n.target = p.target and n.nic = p.pci
    left join main_kind as m on m.target = p.target
    left join card_kinds as c on c.target = p.target
),

placed as (
    select
        target,
        device,
        port,
        dense_rank() over (partition by target order by first_pci) - 1 as rail,
        row_number() over (partition by target, card order by pci, port) - 1 as plane
    from (
        select *, min(pci) over (partition by target, card) as first_pci
        from judged
        where told[1] = 'compute'
    )
)

select
    j.target,
    j.read_at,
    j.device,
    j.port,
    j.pci,
    j.card,
    j.netdev,
    j.link_layer,
    j.state,
    j.rate_gbps,
    j.told[1] as role,
    j.told[2] as role_reason,
    w.rail,
    w.plane,
    j.nearest_gpus,
    j.gpu_relation,
    j.psid || ' ' || j.link_layer || ' ' || j.told[1] || ' of ' || j.kind as cohort
from judged as j
left join placed as w on w.target = j.target and w.device = j.device and w.port = j.port
