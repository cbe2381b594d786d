select
    p.target,
    p.link_layer,
    p.state,
    -- A port that is down prints a rate too, and it means nothing.
    case
        when p.state_code = 1 then '-'
        else format('{:g} Gb/s', case when r.device is null then p.rate_gbps else r.rate_gbps end)
    end as rate
from rdma_port as p
left join port as r on r.target = p.target and r.device = p.device and r.port = p.port
anti join (
    from rdma_device
    semi join virtual_function using (target, pci)
) as d on d.target = p.target and d.device = p.device
