-- What counters grew since the earlier snapshot. Counters compare only within one boot, and one that went down was reset: its
-- rise is NULL, as where nothing was read before. `earlier` is for counters that go on from 0 at their end.
create or replace {kind} view one_boot as
select n.target
from host as n
inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id;

create or replace {kind} view rdma_rise as
select
    n.target,
    n.device,
    n.port,
    n.counter,
    n.value,
    b.value as earlier,
    case when n.value >= b.value then n.value - b.value end as rise,
    epoch(n.read_at) - epoch(b.read_at) as seconds
from rdma_counter as n
left join one_boot as o on o.target = n.target
left join before.rdma_counter as b
    on b.target = o.target and b.device = n.device and b.port = n.port and b.counter = n.counter;

create or replace {kind} view netdev_rise as
select
    n.target,
    n.netdev,
    n.counter,
    case when n.value >= b.value then n.value - b.value end as rise,
    epoch(n.read_at) - epoch(b.read_at) as seconds
from netdev_counter as n
left join one_boot as o on o.target = n.target
left join before.netdev_counter as b on b.target = o.target and b.netdev = n.netdev and b.counter = n.counter;

-- A switch tells no boot: counters that began anew are lower than before, and then nothing is known.
create or replace {kind} view switch_rise as
select
    n.target,
    n.port,
    n.counter,
    n.number,
    case when n.value >= b.value then n.value - b.value end as rise,
    epoch(n.read_at) - epoch(b.read_at) as seconds
from switch_counter as n
left join before.switch_counter as b
    on b.target = n.target and b.port = n.port and b.counter = n.counter and b.number = n.number and b.probe = n.probe;
