-- GPUs come from PCI: nvidia-smi is not always asked (it would initialise an idle GPU), and a GPU that
-- fell off the driver is still on the bus.
select
    f.target,
    f.read_at,
    f.pci,
    c.vendor,
    c.device_id,
    f.numa_node,
    f.link_speed_gts,
    f.link_width,
    s.name,
    s.uuid,
    s.driver_version,
    case
        when s.pci is not null then 'ok'
        when c.vendor <> '10de' then 'nvidia-smi does not know GPUs of other vendors'
        when r.status = 'ok' then 'not listed by nvidia-smi'
        else r.status || case when r.reason <> '' then ': ' || r.reason else '' end
    end as smi_status
from card_function as c
inner join pci_function as f on f.target = c.target and f.pci = c.pci
left join gpu_smi as s on s.target = f.target and s.pci = f.pci
left join probe_result as r on r.target = f.target and r.probe = 'nvidia_smi'
where c.kind = 'gpu'
