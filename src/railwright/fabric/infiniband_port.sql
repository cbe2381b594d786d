-- What a host knows of one of its InfiniBand ports.
select r.state, r.physical_state, r.rate_text, r.lid, r.sm_lid
from rdma_port as r
where r.target = $target and r.device = $device and r.port = $port
