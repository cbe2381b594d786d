/* +++
id = "acs-wrong-for-guests"
aliases = ["N-13"]
title = "ACS not set for ATS (passthrough NIC)"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "nic_parameter.current_code", "pci_config.acs",
    "pci_config.acs_source_validation", "pci_config.acs_request_redirect", "pci_config.acs_completion_redirect",
    "pci_config.acs_upstream_forwarding", "pci_config.acs_direct_translated"]
message = "{subject} uses ATS, and ports on the path to its GPU lack {observed}"
action = "set"
setting = "pci.acs"
since = "0.2"
sources = ["review N-13", "NVIDIA AI Enterprise, Optimizing VM configuration (Blackwell Ultra HGX), appendix",
    "linux-rdma/rdma-core kernel-boot/rdma_topo"]

[uses]
"nic_scope.is_grace" = "Grace has no PCIe ATS"
"gpu_nic.distance" = "identifies the GPUs that are passed through with the NIC"
"pci_function.driver" = "the same"
"pci_function.vendor" = "the same"
"pci_function.class" = "the same"
"pcie_path.hop" = "the ports above GPU and NIC"
+++
## Why it matters
With ATS the NIC sends translated addresses straight to the GPU. A port that does not pass translated requests on
(DirectTrans) still sends them up to the root complex. A port that does not redirect the other requests lets them bypass the
IOMMU, and guests lose their isolation.

## What to do
On each port above the GPUs and NICs that are passed through, and on no other, turn on SrcValid, ReqRedir, CmpltRedir and
UpstreamFwd, and on the NIC's port also DirectTrans. Use `pci=config_acs=` on newer kernels (takes a reboot), otherwise
`setpci` in a unit that runs before the guests start. Never write one value to all bridges, and never turn ACS off on a host
with guests.

## Exceptions
Platforms that `rdma_topo` knows have their own settings: follow `rdma_topo` there. Ports without ACS are ignored.
*/
with gpus as (
    select g.target, g.nic, g.gpu
    from gpu_nic as g
    inner join pci_function as f
        on f.target = g.target and f.pci = g.gpu and f.vendor = '10de' and f.class like '03%' and f.driver = 'vfio-pci'
    where g.distance <= 2
),

ends as (
    select target, nic, nic as pci from gpus
    union
    select target, nic, gpu as pci from gpus
),

ports as (
    select e.target, e.nic, h.hop, bool_or(h.place = 1 and e.pci = e.nic) as is_of_nic -- null: never, all are keys
    from ends as e
    inner join pcie_path as h on h.target = e.target and h.pci = e.pci and h.place > 0
    group by e.target, e.nic, h.hop
),

judged as (
    select
        p.*,
        case c.acs
            when 'absent' then false
            when 'present' then not (
                c.acs_source_validation and c.acs_request_redirect and c.acs_completion_redirect and c.acs_upstream_forwarding
                and (c.acs_direct_translated or not p.is_of_nic)
            )
        end as is_wrong,
        c.acs_source_validation,
        c.acs_request_redirect,
        c.acs_completion_redirect,
        c.acs_upstream_forwarding,
        c.acs_direct_translated or not p.is_of_nic as direct_translated
    from ports as p
    left join pci_config as c on c.target = p.target and c.pci = p.hop
),

paths as (
    select
        target,
        nic,
        any_known(is_wrong) as is_wrong,
        concat_ws(', ',
            case when any_known(is_wrong and not acs_source_validation) then 'SrcValid' end,
            case when any_known(is_wrong and not acs_request_redirect) then 'ReqRedir' end,
            case when any_known(is_wrong and not acs_completion_redirect) then 'CmpltRedir' end,
            case when any_known(is_wrong and not acs_upstream_forwarding) then 'UpstreamFwd' end,
            case when any_known(is_wrong and not direct_translated) then 'DirectTrans' end
        ) as lacking,
        string_agg(hop, ', ' order by hop) filter (is_wrong) as hops
    from judged
    group by target, nic
)

select
    n.target,
    n.pci,
    p.lacking as observed,
    'SrcValid, ReqRedir, CmpltRedir, UpstreamFwd, and DirectTrans above the NIC' as expected,
    n.virtualization = 'hypervisor'
        and n.driver = 'vfio-pci'
        and n.is_grace is not true
        and p.nic is not null
        and a.current_code = 1 as applies,
    p.is_wrong as fault,
    'at ' || p.hops as detail
from nic_scope as n
left join paths as p on p.target = n.target and p.nic = n.pci
left join nic_parameter as a on a.target = n.target and a.pci = n.pci and a.name = 'ATS_ENABLED' and a.port = 0 and a.element = -1
