/* +++
id = "data-direct-acs"
title = "Wrong ACS between GPU and Data Direct function"
severity = "high"
subject = "gpu"
needs = ["pci_function.root_bus", "pci_function.vendor", "pci_function.device", "pci_function.parent", "pci_config.acs",
    "pci_config.acs_source_validation", "pci_config.acs_request_redirect", "pci_config.acs_completion_redirect",
    "pci_config.acs_upstream_forwarding"]
message = "{subject}: {observed}; expected {expected}"
action = "set"
setting = "pci.acs"
covers = ["GDR-13"]
preview = true
implied_by = ["data-direct-iommu-group"]
since = "0.3"
sources = [
  "linux-rdma/rdma-core kernel-boot/rdma_topo, commit 0434340c: what `rdma_topo check` asks of the three ports",
  "NVIDIA Grace Blackwell CX8 GPUDirect RDMA guide", "judgement: preview, no such machine was seen",
]

[unless]
"pci_config.acs_source_validation" = "the port has no ACS"
"pci_config.acs_request_redirect" = "the same"
"pci_config.acs_completion_redirect" = "the same"
"pci_config.acs_upstream_forwarding" = "the same"

[uses]
"pcie_path.hop" = "the GPU's path up to its root port"
+++
## Why it matters
On a ConnectX-8 with the Data Direct function, the NIC writes to the GPU through a function of its own (15b3:2100), across
the switch inside the card. At the DMA function's port requests must go across and completions must be checked; at the GPU's
port it is the other way round. With other bits the data goes up to the CPU, or GPUDirect is refused.

## What to do
1. Run `rdma_topo write-grub-acs`. It writes what this machine needs to the kernel command line (`pci=config_acs=`), for the
   next boot.
2. Reboot, then run `rdma_topo check`.

`setpci` changes the bits at once, but leaves the IOMMU groups as they were formed at boot: the GPU driver refuses that
unless its own check is turned off.

## Exceptions
Only machines with such a function on the GPU's root bus are checked, against what rdma_topo requires in the release that is
named here. Other bridges of the card are not checked.
*/
with dma as (
    select f.target, f.root_bus, f.parent as port, u.parent as switch
    from pci_function as f
    inner join pci_function as u on u.target = f.target and u.pci = f.parent
    where f.vendor = '15b3' and f.device = '2100'
),

ways as (
    select g.target, g.pci, d.port, d.switch, h.hop, f.parent
    from gpu as g
    inner join pci_function as p on p.target = g.target and p.pci = g.pci
    inner join dma as d on d.target = p.target and d.root_bus = p.root_bus
    inner join pcie_path as h on h.target = g.target and h.pci = g.pci and h.place > 0
    inner join pci_function as f on f.target = h.target and f.pci = h.hop
),

-- Which of the bits must be on: source validation, request redirect, completion redirect, upstream forwarding.
wanted as (
    select distinct target, pci, port as hop, 'DMA port' as what, 'SV+ RR- CR+ UF+' as bits from ways
    union all
    select target, pci, hop, 'GPU port' as what, 'SV+ RR+ CR- UF+' as bits from ways where parent = switch
    union all
    select target, pci, hop, 'root port' as what, 'SV- RR+ CR+ UF+' as bits from ways where parent = ''
),

found as (
    select
        w.*,
        case c.acs
            when 'absent' then 'no ACS'
            when 'present' then 'SV' || case when c.acs_source_validation then '+' when not c.acs_source_validation then '-' end
                || ' RR' || case when c.acs_request_redirect then '+' when not c.acs_request_redirect then '-' end
                || ' CR' || case when c.acs_completion_redirect then '+' when not c.acs_completion_redirect then '-' end
                || ' UF' || case when c.acs_upstream_forwarding then '+' when not c.acs_upstream_forwarding then '-' end
        end as told
    from wanted as w
    left join pci_config as c on c.target = w.target and c.pci = w.hop
),

judged as (
    select
        target,
        pci,
        any_known(told <> bits) as fault,
        string_agg(told || ' at the ' || what, ', ' order by what, hop) filter (told <> bits) as words,
        string_agg(bits || ' at the ' || what, ', ' order by what, hop) filter (told <> bits) as needed,
        string_agg(what || ' ' || hop, ', ' order by what, hop) filter (told <> bits) as hops
    from found
    group by target, pci
)

select
    g.target,
    g.pci,
    j.words as observed,
    j.needed as expected,
    case
        when j.pci is not null then true
        when all_known(f.root_bus <> p.root_bus or f.vendor <> '15b3' or f.device <> '2100') then false
    end as applies,
    j.fault,
    j.hops as detail
from gpu as g
left join pci_function as p on p.target = g.target and p.pci = g.pci
left join pci_function as f on f.target = g.target
left join judged as j on j.target = g.target and j.pci = g.pci
group by g.target, g.pci, j.pci, j.words, j.needed, j.hops, j.fault
