/* +++
id = "acs-redirect"
aliases = ["GDR-01"]
title = "ACS redirects GPUDirect traffic through the root complex"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.architecture", "gpu_nic.distance", "gpu_nic.common_hop", "pci_config.acs",
    "pci_config.acs_request_redirect", "pci_config.acs_completion_redirect"]
message = "{subject} has {observed} on the path to its GPU"
action = "set"
setting = "pci.acs"
cost = "half the bandwidth (incident I-003), or GPUDirect fails outright (incident I-002, I-004, I-005)"
since = "0.2"
sources = ["review GDR-01", "incident I-002", "incident I-003", "incident I-004", "incident I-005",
    "Linux commit aaca43fda742 (pci=disable_acs_redir)", "linux-rdma/rdma-core kernel-boot/rdma_topo", "reference B9",
    "judgement: between two root ports of one root complex no published measurement shows what redirecting costs, and iommu=pt switches it on"]

[grades]
high = "GPU and NIC share a switch, which would otherwise forward straight across"
info = "they meet only in the root complex: harm is not proven there"

[unless]
"gpu_nic.distance" = "GPU and NIC are further apart than one root complex (NULL: the distance is unknown)"

[uses]
"nic_scope.role" = "leaves storage and management out; a NIC of unknown role next to a GPU counts as compute"
"nic_scope.inferred" = {purpose = "severity"}
"pci_function.vendor" = "identifies the switch of a ConnectX or BlueField, where other rules apply"
"pcie_path.hop" = "the ports between the two"
"kernel_argument.value" = {purpose = "words"}
+++
## Why it matters
With request or completion redirect on, a PCIe switch sends traffic between a GPU and a NIC up to the root complex and down
again, instead of straight across. GPUDirect then runs at about half its rate, or fails with completion errors (status 4,
vendor error 0x51).

## What to do
Turn ACS off in the BIOS, or name exactly these ports on the kernel command line: `pci=disable_acs_redir=PORT;PORT` (takes a
reboot; the list changes when slots change). Check in the kernel log that it was applied. `setpci` works until the next
reboot and leaves the IOMMU groups as calculated at boot: isolation is then weaker than the kernel assumes. Never write one
value to all bridges. A kernel with the IOMMU on turns ACS on again, even with `iommu=pt`.

## Exceptions
If GPU and NIC do not share a switch, as on CPUs with a root port for each, the finding is informational. Source validation
and upstream forwarding alone do no harm and are ignored. Hosts that pass GPUs or NICs through to guests need ACS and are
not checked. Neither are Grace, Vera and the switch inside a ConnectX-8, where other settings are correct
(`rdma_topo check`). Egress control is not collected.
*/
-- PIX, PXB and PHB: further apart, libraries do not send from GPU to NIC by themselves.
with pairs as (
    select target, gpu, nic, common_hop, distance <= 1 as is_near from gpu_nic where distance <= 2
),

ends as (
    select target, nic, nic as pci, common_hop, is_near from pairs
    union
    select target, nic, gpu as pci, common_hop, is_near from pairs
),

-- From each end up to the port that both share, without it; to the root port where they share none.
ports as (
    select e.target, e.nic, h.hop, bool_or(e.is_near) as is_near -- null: never, pairs without a distance are left out
    from ends as e
    inner join pcie_path as h on h.target = e.target and h.pci = e.pci and h.place > 0
    left join pcie_path as m on m.target = e.target and m.pci = e.pci and m.hop = e.common_hop
    where e.common_hop = '' or h.place < m.place
    group by e.target, e.nic, h.hop
),

redirects as (
    select
        p.target,
        p.nic,
        any_known(
            case c.acs when 'absent' then false when 'present' then c.acs_request_redirect or c.acs_completion_redirect end
        ) as is_on,
        any_known(p.is_near and (c.acs_request_redirect or c.acs_completion_redirect)) as is_on_near,
        concat_ws(' ',
            case when any_known(c.acs_request_redirect) then 'ReqRedir+' end,
            case when any_known(c.acs_completion_redirect) then 'CmpltRedir+' end
        ) as words,
        string_agg(p.hop, ', ' order by p.hop) filter (c.acs_request_redirect or c.acs_completion_redirect) as hops
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
        and coalesce(n.role = 'compute', true) as applies, -- null: a NIC next to a GPU counts as compute
    r.is_on as fault,
    concat_ws('; ', 'at ' || r.hops, 'booted with ' || a.words) as detail,
    n.inferred,
    case when r.is_on_near is false then 'info' else 'high' end as severity
from nic_scope as n
left join meetings as m on m.target = n.target and m.nic = n.pci
left join redirects as r on r.target = n.target and r.nic = n.pci
left join (
    select target, string_agg('pci=' || value, ' ' order by place) as words
    from kernel_argument
    where name = 'pci' and value like '%acs%'
    group by target
) as a on a.target = n.target
