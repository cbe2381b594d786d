-- What rules are about, made once and read by many: physical functions and their ports with what every
-- guard asks for. Rows of what was not read are NULL, hence unknown.

-- A machine: whether it is a guest, hands devices through to guests, or neither.
create or replace {kind} host_scope as
select
    t.target,
    t.status,
    c.architecture,
    case
        when c.hypervisor <> '' then 'guest'
        when f.hands_through then 'hypervisor'
        when c.hypervisor = '' and not f.hands_through then 'bare metal'
    end as virtualization,
    f.is_grace,
    r.netns_mode,
    k.kind,
    k.gpus,
    -- NULL: which class it is in was not read.
    case when n.target is null then false when n.class is not null then true end as has_class,
    n.class,
    n.compute_nics,
    n.port_rate_gbps,
    n.numa_nodes
from target as t
left join cpu as c on c.target = t.target
left join rdma_system as r on r.target = t.target
left join host_kind as k on k.target = t.target
left join node_class as n on n.target = t.target
left join (
    select
        target,
        any_known(driver = 'vfio-pci' and (class like '02%' or class like '03%')) as hands_through,
        -- Root ports of Grace and Vera (review G-PLATFORM).
        any_known(vendor = '10de' and device in ('22b1', '22b2', '22b8', '2f95', '2f96')) as is_grace
    from pci_function
    group by target
) as f on f.target = t.target
where t.kind = 'host';

-- A port of a physical function. The site's word on its role counts before the inferred one.
create or replace {kind} port_scope as
select
    p.target,
    p.device,
    p.port,
    p.pci,
    p.card,
    p.netdev,
    p.link_layer,
    p.state,
    p.rate_gbps,
    coalesce(d.role, p.role) as role,
    d.role is null as inferred,
    p.rail,
    p.plane,
    p.gpu_relation,
    p.nearest_gpus,
    p.cohort,
    f.vendor,
    f.device as device_id,
    f.numa_node,
    f.vf_count,
    h.architecture,
    h.virtualization,
    h.netns_mode
from port as p
left join declared_role as d on d.target = p.target and d.device = p.device and d.port = p.port
left join pci_function as f on f.target = p.target and f.pci = p.pci
left join host_scope as h on h.target = p.target;

-- A physical network function, whether it has an RDMA device or not. Its role is that of its ports.
create or replace {kind} nic_scope as
select
    e.target,
    e.pci,
    f.vendor,
    f.device as device_id,
    f.class,
    f.driver,
    f.vf_count,
    p.device,
    p.role,
    coalesce(p.inferred, true) as inferred,
    p.link_layer,
    p.port_count,
    h.architecture,
    h.virtualization,
    h.is_grace,
    h.netns_mode
from pcie_endpoint as e
left join pci_function as f on f.target = e.target and f.pci = e.pci
left join host_scope as h on h.target = e.target
left join (
    select
        target,
        pci,
        min(device) as device,
        count(*) as port_count,
        case
            when any_known(role = 'compute') then 'compute'
            when any_known(role = 'storage') then 'storage'
            when any_known(role = 'management') then 'management'
            when all_known(role = 'unused') then 'unused'
        end as role,
        bool_or(inferred) as inferred,
        min(link_layer) as link_layer
    from port_scope
    group by target, pci
) as p on p.target = e.target and p.pci = e.pci
where e.kind = 'nic';

-- An end of a link. What a switch's port is for is told by who is behind it: compute and storage are the role of the
-- host's port, and there the site's word counts before the inferred one. Classes are those that the site's codepoints get.
create or replace {kind} end_scope as
select
    e.target,
    e.port,
    e.kind,
    e.system,
    e.device,
    case
        when d.role is not null then d.role
        when e.kind = 'switch' and e.role = 'host' then o.role
        else e.role
    end as role,
    d.role is null and (e.kind = 'host' or e.role = 'host') as inferred,
    e.tier,
    e.facing,
    e.peer,
    e.peer_port,
    e.peer_kind,
    e.trouble,
    e.is_up,
    e.speed_mbps,
    e.speed_asked_mbps,
    e.lanes,
    e.fec,
    e.fec_asked,
    e.autonegotiation,
    e.mtu,
    e.trust,
    e.pfc_mask,
    e.pause_rx,
    e.pause_tx,
    e.cable_length_m,
    e.cable_length_kind,
    e.watchdog_mask,
    e.cohort,
    e.dscp_classes,
    class_of(e.dscp_classes, s.data_dscp) as data_class,
    class_of(e.dscp_classes, s.cnp_dscp) as cnp_class,
    class_of(e.dscp_classes, s.storage_dscp) as storage_class,
    -- Where no switch was read, nobody can be compared with one.
    w.has_switches
from link_end as e
cross join site as s
cross join (select count(*) > 0 as has_switches from target where kind = 'switch') as w
left join link_end as o on o.target = e.peer and o.port = e.peer_port and e.kind = 'switch' and e.role = 'host'
left join declared_role as d
    on d.target = case when e.kind = 'host' then e.target else o.target end
    and d.device = case when e.kind = 'host' then e.device else o.device end
    and d.port = case when e.kind = 'host' then e.device_port else o.device_port end
union all by name
-- A switch without a port, or a host that did not answer, has ends that nobody knows: they never vanish.
select t.target, '*' as port, t.kind, w.has_switches
from target as t
cross join (select count(*) > 0 as has_switches from target where kind = 'switch') as w
where
    (t.kind = 'switch' or t.status not in ('reached', 'incomplete'))
    and t.target not in (select target from link_end);
