select
    p.target,
    p.link_layer,
    p.state,
    -- A port that is down prints a rate too, and it means nothing.
    case p.state_code when 1 then '-' else format('{:g} Gb/s', p.rate_gbps) end as rate
from rdma_port as p
anti join (
    from rdma_device
    semi join virtual_function using (target, pci)
) as d using (target, device)
