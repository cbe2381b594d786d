select
    d.target,
    pcie(f.link_speed_gts, f.link_width) as link_now,
    pcie(f.link_speed_max_gts, f.link_width_max) as link_most,
    c.max_payload::varchar as max_payload,
    c.max_read_request::varchar as max_read_request,
    case when c.relaxed_ordering then 'on' when not c.relaxed_ordering then 'off' end as relaxed
from nic as d
left join adapter as f on f.target = d.target and f.pci = d.pci
-- Hosts of a kind have their NICs at the same few addresses: most functions go unjoined.
left join (
    from pci_config
    semi join (select distinct pci from nic) using (pci)
) as c on c.target = d.target and c.pci = d.pci
