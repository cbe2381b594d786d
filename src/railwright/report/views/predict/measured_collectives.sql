-- What nccl-tests measured of one operation, from 1 MiB on: below, the model says nothing.
select r.run, r.nodes, o.bytes, greatest(o.out_busbw_gbs, o.in_busbw_gbs) as bus
from nccl_run as r
inner join nccl_result as o using (target, run, part)
where r.test = $test and o.bytes >= 1048576 and coalesce(o.out_busbw_gbs, o.in_busbw_gbs) is not null
order by r.target, r.run, r.part, o.place
