/* +++
id = "GDR-01"
title = "ACS sends traffic between GPU and NIC up to the root complex"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.architecture", "gpu_nic.distance", "gpu_nic.common_hop", "pci_config.acs",
    "pci_config.acs_request_redirect", "pci_config.acs_completion_redirect"]
message = "{subject}: on the way to its GPU {observed}"
cost = "half the bandwidth (incident I-003), or GPUDirect fails outright (incident I-002, I-004, I-005)"
since = "0.2"
sources = ["review GDR-01", "incident I-002", "incident I-003", "incident I-004", "incident I-005",
    "Linux commit aaca43fda742 (pci=disable_acs_redir)", "linux-rdma/rdma-core kernel-boot/rdma_topo", "reference B9"]

[unless]
"gpu_nic.distance" = "NULL is further apart than one root complex, and how far is not known"

[uses]
"nic_scope.role" = "leaves storage and management out; a NIC of unknown role next to a GPU is one of compute"
"nic_scope.inferred" = {purpose = "severity"}
"pci_function.vendor" = "tells the switch of a ConnectX or BlueField, whose rules are others"
"pcie_path.hop" = "the ports between the two"
"kernel_argument.value" = {purpose = "words"}
+++
## Why it matters
With request or completion redirect on, a PCIe switch sends what a GPU and a NIC have for each other up to the root
complex and down again, instead of across. GPUDirect then runs at about half its rate, or ends in completion errors
(status 4, vendor error 0x51).

## What to do
Switch ACS off in the BIOS, or name exactly these ports in the kernel's command line: `pci=disable_acs_redir=PORT;PORT` (a
reboot; the list changes when slots change). Look in the kernel log that it was taken. `setpci` works until the next
reboot, and leaves the IOMMU groups as computed at boot: isolation is then weaker than the kernel believes. Never write
one value to all bridges. A kernel with the IOMMU on switches ACS on again, with `iommu=pt` too.

## When it is wrong
Source validation and upstream forwarding alone do no harm and are not counted. Hosts that hand GPUs or NICs to guests
need ACS and are left out, and so are Grace, Vera and the switch inside a ConnectX-8, where other settings are right
(`rdma_topo check`). Egress control is not read.
*/
-- PIX, PXB and PHB: further apart, libraries do not send from GPU to NIC by themselves.
with pairs as (
    select target, gpu, nic, common_hop from gpu_nic where distance <= 2
),

ends as (
    select target, nic, nic as pci, common_hop from pairs
    union
    select target, nic, gpu as pci, common_hop from pairs
),

-- From each end up to, without, the port that both share; to the root port where they share none.
ports as (
    select distinct e.target, e.nic, h.hop
    from ends as e
    inner join pcie_path as h on h.target = e.target and h.pci = e.pci and h.place > 0
    left join pcie_path as m on m.target = e.target and m.pci = e.pci and m.hop = e.common_hop
    where e.common_hop = '' or h.place < m.place
),

redirects as (
    select
        p.target,
        p.nic,
        any_known(
            case c.acs when 'absent' then false when 'present' then c.acs_request_redirect or c.acs_completion_redirect end
        ) as is_on,
        string_agg(
            p.hop || ' has' || case when c.acs_request_redirect then ' ReqRedir+' else '' end
                || case when c.acs_completion_redirect then ' CmpltRedir+' else '' end,
            ', ' order by p.hop
        ) filter (c.acs_request_redirect or c.acs_completion_redirect) as words
    from ports as p
    left join pci_config as c on c.target = p.target and c.pci = p.hop
    group by p.target, p.nic
),

meetings as (
    select p.target, p.nic, any_known(case when p.common_hop <> '' then f.vendor = '15b3' else false end) as is_inside_nic
    from pairs as p
    left join pci_function as f on f.target = p.target and f.pci = p.common_hop
    group by p.target, p.nic
)

select
    n.target,
    n.pci,
    r.words as observed,
    'no redirect between GPU and NIC' as expected,
    n.virtualization = 'bare metal'
        and n.architecture = 'x86_64'
        and m.nic is not null
        and not m.is_inside_nic
        and coalesce(n.role = 'compute', true) as applies, -- null: being next to a GPU is what a compute NIC is told by
    r.is_on as fault,
    'booted with ' || a.words as detail,
    n.inferred
from nic_scope as n
left join meetings as m on m.target = n.target and m.nic = n.pci
left join redirects as r on r.target = n.target and r.nic = n.pci
left join (
    select target, string_agg('pci=' || value, ' ' order by place) as words
    from kernel_argument
    where name = 'pci' and value like '%acs%'
    group by target
) as a on a.target = n.target
