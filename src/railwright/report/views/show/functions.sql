-- The PCI functions of a host, without virtual ones; what is NULL was not read.
select
    f.pci,
    f.parent,
    f.class,
    f.numa_node,
    f.local_cpus,
    f.link_speed_gts,
    f.link_width,
    f.link_speed_max_gts,
    f.link_width_max,
    case
        when c.acs = 'absent' then 'absent'
        when
            c.acs_request_redirect
            or c.acs_completion_redirect
            or c.acs_upstream_forwarding
            or c.acs_source_validation
            or c.acs_direct_translated
            then 'on'
        when
            not (
                c.acs_request_redirect
                or c.acs_completion_redirect
                or c.acs_upstream_forwarding
                or c.acs_source_validation
                or c.acs_direct_translated
            )
            then 'off'
    end as acs
from pci_function as f
left join pci_config as c on c.target = f.target and c.pci = f.pci
where f.target = $target and (f.physical_function is null or f.physical_function = '')
order by f.pci
