-- What several rules look up in the same way. Plain views and macros: what is not asked is not read.

-- What the files of a host give to a library: '' = set in none of them, and all of them were read; a file that was not read
-- whole has a row without a name or a precedence, and then nobody knows.
create or replace {kind} macro library_value(variable) as table
    select
        r.target,
        case
            when count(*) filter (s.name = variable and s.precedence = 1) = 1
                then max(s.value) filter (s.name = variable and s.precedence = 1)
            when count(*) filter (s.file is not null and s.precedence is null) = 0 then ''
        end as value,
        max(s.file) filter (s.name = variable and s.precedence = 1) as file
    from probe_result as r
    left join library_setting as s on s.target = r.target and s.name in ('', variable)
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target;

-- The network devices that carry a port: its own, or the members of its bond. The PCI function is that of the RDMA device.
create or replace {kind} view port_link as
select
    p.target,
    p.device,
    p.port,
    p.pci,
    p.link_layer,
    p.role,
    p.inferred,
    case when b.member is null then p.netdev else b.member end as netdev
from port_scope as p
left join bond_member as b on b.target = p.target and b.bond = p.netdev;

-- With the QoS of each: of a bond its members have it.
create or replace {kind} view port_qos as
select p.*, q.trust, q.pfc_mask, q.dscp_priorities, q.dcbx_mode, q.lldpad_running
from port_link as p
left join netdev_qos as q on q.target = p.target and q.netdev = p.netdev;

-- With the PCI function of each.
create or replace {kind} view port_function as
select
    p.target,
    p.device,
    p.port,
    p.link_layer,
    case when b.member is null then p.netdev else b.member end as netdev,
    case when b.member is null then p.pci else n.pci end as pci,
    case when b.member is null then false else b.mii_status = 'down' end as is_down -- of a bond, and counted by bond-member-down
from port_scope as p
left join bond_member as b on b.target = p.target and b.bond = p.netdev
left join netdev as n on n.target = b.target and n.name = b.member;

-- When the driver of a NIC was loaded last, as a place in the kernel's log.
create or replace {kind} view driver_load as
select target, pci, max(place) as place
from kernel_message
where kind = 'firmware'
group by target, pci;

-- The log is a ring: it is whole where it begins with the boot.
create or replace {kind} view kernel_log as
select target, bool_or(kind = 'boot') as is_whole -- null: every message has a kind
from kernel_message
group by target;

-- A card that NVIDIA's tools, driver and firmware know nothing of: what is told by them is not about it. One whose vendor was
-- not read may be NVIDIA's.
create or replace {kind} macro is_of_other_vendor(vendor) as
    vendor is not null and vendor <> '15b3';

-- Device ids of virtual functions (mlx5_core's table): in a guest these have no firmware parameters.
create or replace {kind} macro is_virtual_function(device_id) as
    device_id in ('1012', '1014', '1016', '1018', '101a', '101c', '101e', 'a2d3');

-- An end and the one it is connected to. Whoever hears several neighbors, or one that hears another, has no known peer.
create or replace {kind} view end_pair as
select
    e.*,
    o.kind as other_kind,
    o.device as other_device,
    o.role as other_role,
    o.cohort as other_cohort,
    o.is_up as other_is_up,
    o.speed_mbps as other_speed_mbps,
    o.speed_asked_mbps as other_speed_asked_mbps,
    o.fec as other_fec,
    o.fec_asked as other_fec_asked,
    o.autonegotiation as other_autonegotiation,
    o.mtu as other_mtu,
    o.trust as other_trust,
    o.pfc_mask as other_pfc_mask,
    o.data_class as other_data_class,
    o.cnp_class as other_cnp_class
from end_scope as e
left join end_scope as o
    on o.target = e.peer and o.port = e.peer_port and e.trouble in ('', 'one-sided');

-- Ends that are held against the others of their cohort.
create or replace {kind} view grouped_end as
select * from end_scope where role in ('compute', 'fabric') or role is null;

-- What most members of a group have: of four or more, and so that it stays true even if all that were not read have
-- something else. Judgement: three are no group, one of them may be the only one that is right.
create or replace {kind} macro usual_of(x) as
    case when count(*) >= 4 then mode_known(x) end;

-- Which of two ends that differ is wrong: the one that is not as wanted; where nobody says what is wanted, the one that is
-- not as most of its cohort are; else it cannot be told. '' = they do not differ.
create or replace {kind} macro blame(mine, theirs, wanted, other_wanted, usual, other_usual) as
    case
        when mine = theirs then ''
        when mine is null or theirs is null then null
        when mine <> wanted then 'this end'
        when theirs <> other_wanted then 'other end'
        when mine = wanted and other_wanted is null then 'other end'
        when theirs = other_wanted and wanted is null then 'this end'
        when wanted is not null or other_wanted is not null then 'cannot be told'
        when mine <> usual then 'this end'
        when theirs <> other_usual then 'other end'
        else 'cannot be told'
    end;

-- What a trust mode does to an IP packet, which is all that RoCE sends: both = its DSCP, and PCP only for other packets.
create or replace {kind} macro acting_trust(trust) as case trust when 'both' then 'dscp' else trust end;

-- Whether a finding belongs to this end.
create or replace {kind} macro is_blamed(whom) as whom in ('this end', 'cannot be told');

-- Where a switch's ports put a DSCP: into which class and queue, held against the class that is wanted, or against what most
-- ports of their kind do. Not every system tells which queue a class leaves through: compared where it was read.
create or replace {kind} macro dscp_way(dscp, wanted) as table
with ways as (
    select e.target, e.port, e.cohort, class_of(e.dscp_classes, dscp) as class, c.queue
    from end_scope as e
    left join port_class as c on c.target = e.target and c.port = e.port and c.class = class_of(e.dscp_classes, dscp)
    where (e.kind = 'switch' or e.kind is null) and (e.role in ('compute', 'fabric') or e.role is null)
),

usual as (
    select
        cohort,
        usual_of(class) as class,
        usual_of(class || ' ' || queue) as way,
        count(*) >= 4 and count(class) < count(*) as is_open
    from ways
    group by cohort
),

judged as (
    select
        w.*,
        u.way,
        case when wanted is not null then wanted else u.class end as needed,
        coalesce(w.class || ' ' || w.queue <> u.way, false) as is_queued_elsewhere, -- null: compared where it is told
        -- Without a wish and without a majority there is nothing to hold it against.
        case when wanted is not null or u.class is not null then true when not u.is_open then false end as is_judged
    from ways as w
    left join usual as u on u.cohort = w.cohort
)

select
    target,
    port,
    is_judged,
    case
        when is_judged or class is null then class <> needed or is_queued_elsewhere
        when not is_judged then false
    end as is_elsewhere,
    'DSCP ' || dscp || ' in ' || class_words(class) || case when class = needed then ' and queue ' || queue else '' end as found,
    class_words(needed) || case when class = needed then ' and queue ' || split_part(way, ' ', 2) else '' end as needed
from judged;

-- Every class of a switch's port with what the port is for.
create or replace {kind} view end_class as
select e.*, c.* exclude (target, port, read_at)
from end_scope as e
left join port_class as c on c.target = e.target and c.port = e.port
where e.kind is null or e.kind = 'switch';

-- An end with what the cabling plan says of it; a host's port may be planned by its RDMA device.
create or replace {kind} view end_plan as
select
    e.target,
    e.port,
    p.peer,
    p.peer_port,
    p.length_m,
    p.rail,
    p.plane
from end_scope as e
inner join planned_link as p on p.target = e.target and (p.port = e.port or (e.device <> '' and p.port = e.device));

-- The generation of the Spectrum chip in a switch: 0 = it has another chip; NULL = its model was not read.
create or replace {kind} view switch_chip as
select target, max(spectrum_generation(model)) as generation
from switch
group by target;

-- What a port that is up carries on its wire, for what a fault there costs: cost_gbps of predict/macros.py. RoCE over IPv4 is
-- taken, as for the ceiling of a port that has such a GID. A bond's device has the rate of one member.
create or replace {kind} view port_wire as
select
    p.target,
    p.device,
    p.port,
    p.pci,
    v.active_mtu as mtu,
    rdma_headers(p.link_layer, true) as headers,
    wire_write_gbps(
        case when p.state = 'ACTIVE' then p.rate_gbps when p.state is not null then 0 end,
        v.active_mtu,
        rdma_headers(p.link_layer, true)
    ) as wire_gbps
from port_scope as p
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port;

-- The same of all ports of a NIC: what its PCIe path is to carry.
create or replace {kind} view nic_wire as
select target, pci, sum_known(wire_gbps) as wire_gbps
from port_wire
group by target, pci;

-- What PCIe carries of a NIC's data: to the GPU beside it, if it serves GPUs, else to memory.
create or replace {kind} view nic_line as
select w.target, w.pci, case when n.role = 'compute' then w.gpu_gbps else w.memory_gbps end as gbps
from nic_path as w
left join nic_scope as n on n.target = w.target and n.pci = w.pci;

-- Where the data of a NIC leaves its path to the root, as a place of pcie_path: where it meets the GPU beside it, if it serves
-- GPUs; else no place is beyond it (pcie_path ends at 30). What lies above slows none of it.
create or replace {kind} view nic_reach as
select
    n.target,
    n.pci,
    case when n.role <> 'compute' or w.gpu = '' then 31 when n.role = 'compute' then m.place end as end_place
from nic_scope as n
inner join nic_path as w on w.target = n.target and w.pci = n.pci
left join gpu_nic as g on g.target = w.target and g.nic = w.pci and g.gpu = w.gpu
left join pcie_path as m on m.target = g.target and m.pci = g.nic and m.hop = g.common_hop;

-- What one PCIe packet of a NIC carries. A million NICs have fifty million PCI functions; hosts of a kind have their NICs at the
-- same few addresses, so that most functions are left out before anything is joined.
create or replace {kind} view nic_payload as
select c.target, c.pci, c.max_payload
from pci_config as c
semi join (select distinct pci from port_scope) as p on p.pci = c.pci;

-- How large the packets are that a NIC's data crosses PCIe in: its own, and those that its root port sends. With them
-- pcie_gbps(line, max_payload, completion_payload) is what a PCIe link carries, in `check` as in `predict`.
create or replace {kind} view nic_packets as
with sizes as (
    select c.target, c.pci, c.max_payload
    from pci_config as c
    semi join (select pci from pcie_endpoint union select root_port from pcie_endpoint) as p on p.pci = c.pci
)

select e.target, e.pci, c.max_payload, u.max_payload as completion_payload
from pcie_endpoint as e
left join sizes as c on c.target = e.target and c.pci = e.pci
left join sizes as u on u.target = e.target and u.pci = e.root_port;

-- What the ports of a role that are up carry on a host, most of them: one that is gone or down would carry the same.
create or replace {kind} view role_wire as
select p.target, p.role, mode_known(w.wire_gbps) as port_gbps
from port_scope as p
inner join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
where p.state = 'ACTIVE'
group by p.target, p.role;

-- The same of whole cards: their ports together.
create or replace {kind} view card_wire as
select target, role, mode_known(gbps) as card_gbps
from (
    select p.target, p.role, p.card, sum_known(w.wire_gbps) as gbps
    from port_scope as p
    inner join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
    where p.state = 'ACTIVE'
    group by p.target, p.role, p.card
)
group by target, role;

-- The same of the cards of one type: what a card or an RDMA device that is missing had is known by its like on the host.
create or replace {kind} view part_wire as
select s.target, s.part, mode_known(w.wire_gbps) as port_gbps
from slot as s
inner join port_scope as p on p.target = s.target and p.pci = s.pci and p.state = 'ACTIVE' and p.role in ('compute', 'storage')
inner join port_wire as w on w.target = p.target and w.device = p.device and w.port = p.port
group by s.target, s.part;

-- Which tools build the boot files of a distribution; '' = one whose tools are not known here.
create or replace {kind} macro boot_tools(operating_system) as
    case
        when regexp_matches(operating_system, '^(Ubuntu|Debian|NVIDIA DGX)') then 'debian'
        when regexp_matches(operating_system, '^(Red Hat|Rocky|AlmaLinux|CentOS|Oracle Linux|Fedora)') then 'rhel'
        when operating_system is not null then ''
    end;

-- The number of a firmware parameter's value, from any text that mlxconfig prints or takes; NULL = only its label was said.
create or replace {kind} macro parameter_code(value) as
    case
        when lower(value) = 'true' then 1
        when lower(value) = 'false' then 0
        when try_cast(value as bigint) is not null then try_cast(value as bigint)
        else try_cast(regexp_extract(value, '\(([0-9]+)\)$', 1) as bigint)
    end;

-- What the site file says of each card's firmware parameters, by the card's board id.
create or replace {kind} view parameter_wish as
with named as (
    select psid, value, regexp_extract(name, '^(.*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]+)\])?$', ['name', 'port', 'element']) as said
    from wanted_parameter
),

-- Where no RDMA device is visible, the firmware tool tells the board.
boards as (
    select n.target, n.pci, case when min(r.pci) is null then min(f.psid) else min(r.psid) end as psid
    from nic_scope as n
    left join rdma_device as r on r.target = n.target and r.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
    group by n.target, n.pci
)

select
    b.target,
    b.pci,
    w.said.name as name,
    coalesce(try_cast(w.said.port as integer), 0) as port, -- null: not per port
    coalesce(try_cast(w.said.element as integer), -1) as element, -- null: not an element of an array
    w.value
from boards as b
inner join named as w on w.psid = b.psid;

-- A firmware parameter as it is stored in a card, which is in force from the next reset on, what the site file says of it, and
-- what speaks against writing it. Those of class 3 (function) are written through every function, others once for a card.
create or replace {kind} view stored_parameter as
with cards as (
    select
        n.*,
        min(n.pci) over (partition by n.target, split_part(n.pci, '.', 1)) as first_pci,
        n.device_id in ('a2d2', 'a2d6', 'a2dc', 'a2df') as is_bluefield,
        m.current_code as offload_engine, -- 0: the Arm side has the card
        q.status as asked
    from nic_scope as n
    left join nic_parameter as m
        on m.target = n.target and m.pci = n.pci and m.name = 'INTERNAL_CPU_OFFLOAD_ENGINE' and m.port = 0 and m.element = -1
    left join probe_result as q on q.target = n.target and q.instance = n.pci and q.probe = 'mlxconfig'
),

shown as (
    select p.target, p.pci, p.name, p.port, p.element, p.next_code, p.next_text, p.read_only, w.value, w.pci is not null as is_named, true as is_shown
    from nic_parameter as p
    left join parameter_wish as w
        on w.target = p.target and w.pci = p.pci and w.name = p.name and w.port = p.port and w.element = p.element
    union all by name
    select w.target, w.pci, w.name, w.port, w.element, w.value, true as is_named, false as is_shown
    from parameter_wish as w
    left join nic_parameter as p
        on p.target = w.target and p.pci = w.pci and p.name = w.name and p.port = w.port and p.element = w.element
    where p.pci is null
)

select
    c.target,
    c.pci,
    s.name,
    s.port,
    s.element,
    s.next_code as code,
    parameter_code(s.value) as wanted_code,
    s.is_named,
    case
        when not s.is_shown and c.asked = 'ok' then 'the card does not show it'
        when c.virtualization = 'guest' then 'a guest: set it on the machine that has the card'
        when is_of_other_vendor(c.vendor) then 'not a card of NVIDIA'
        when s.read_only then 'the card does not allow it to be changed'
        when c.role = 'management' then 'the card carries the management network'
        when c.is_bluefield and c.offload_engine = 0 then 'a BlueField in DPU mode: its Arm side has the card'
        when s.value <> '' and parameter_code(s.value) is null then 'the site file has its label: give its number'
        when s.next_text similar to '(True|False).*' and not parameter_code(s.value) in (0, 1) then 'it is true or false, not a number'
        when c.virtualization is not null and c.vendor is not null and not s.read_only
            -- A NIC that is given to a guest carries nothing of the host.
            and (c.role is not null or c.driver = 'vfio-pci')
            and (not c.is_bluefield or c.offload_engine = 1)
            then ''
    end as refused,
    s.name
        || case when s.port > 0 then '_P' || s.port else '' end
        || case when s.element >= 0 then '[' || s.element || ']' else '' end as parameter,
    c.device,
    c.role,
    c.driver,
    c.link_layer,
    c.architecture,
    c.virtualization,
    c.is_grace
from shown as s
inner join cards as c on c.target = s.target and c.pci = s.pci
where c.pci = c.first_pci or s.name in ('PCI_WR_ORDERING', 'ROCE_CONTROL', 'MULTI_PORT_VHCA_EN');
