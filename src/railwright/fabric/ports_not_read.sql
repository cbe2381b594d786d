-- A row where the probe of RDMA ports failed, or where its answer lacks the ports of a device.
select 1
from gap
where target = $target and probe = $probe and nothing_read and status <> 'absent'
union all
select 1
from rdma_device as d
anti join rdma_port as p on p.target = d.target and p.device = d.device
where d.target = $target
