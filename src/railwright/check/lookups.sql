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

-- The network devices that carry a port: its own, or the members of its bond.
create or replace {kind} view port_link as
select p.target, p.device, p.port, case when b.member is null then p.netdev else b.member end as netdev
from port_scope as p
left join bond_member as b on b.target = p.target and b.bond = p.netdev;

-- The same with their PCI functions.
create or replace {kind} view port_function as
select
    p.target,
    p.device,
    p.port,
    p.link_layer,
    case when b.member is null then p.netdev else b.member end as netdev,
    case when b.member is null then p.pci else n.pci end as pci,
    case when b.member is null then false else b.mii_status = 'down' end as is_down -- of a bond, and counted by N-17
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

-- Device ids of virtual functions (mlx5_core's table): in a guest these have no firmware parameters.
create or replace {kind} macro is_virtual_function(device_id) as
    device_id in ('1012', '1014', '1016', '1018', '101a', '101c', '101e', 'a2d3');
