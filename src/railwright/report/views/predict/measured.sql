-- What perftest measured on the ports of this snapshot, beside their ceilings: of each run the best average.
select
    r.target,
    r.run,
    r.device,
    r.test,
    max(o.bw_average_gbps) as measured_gbps,
    any_value(case r.test
        when 'RDMA_Write BW Test' then c.write_gbps
        when 'RDMA_Read BW Test' then c.read_gbps
        when 'Send BW Test' then c.send_gbps
    end) as ceiling_gbps,
    any_value(case r.test when 'RDMA_Write BW Test' then c.low_gbps end) as low_gbps,
    any_value(case r.test when 'RDMA_Write BW Test' then c.alarm_gbps end) as alarm_gbps
from perftest_run as r
inner join perftest_result as o using (target, run, part)
left join (
    -- a device with two ports does not say which one it was
    select target, device, any_value(write_gbps) as write_gbps, any_value(read_gbps) as read_gbps,
        any_value(send_gbps) as send_gbps, any_value(low_gbps) as low_gbps, any_value(alarm_gbps) as alarm_gbps
    from port_ceiling
    group by target, device
    having count(*) = 1
) as c using (target, device)
where o.bw_average_gbps is not null
group by r.target, r.run, r.part, r.device, r.test
order by r.target, r.device, r.run, r.part
