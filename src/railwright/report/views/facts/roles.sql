select
    p.target,
    p.role,
    p.role_reason || case when p.role_dispute <> '' then ', though ' || p.role_dispute else '' end as because,
    said(p.gpu_relation) as nearest_gpu
from site_port as p
