/* +++
id = "acs-cleared-by-hand"
aliases = ["GDR-02"]
title = "ACS redirect cleared until the next reboot only"
severity = "low"
subject = "host"
action = "set"
setting = "host.kernel_argument"
needs = ["host_scope.virtualization", "host_scope.gpus", "host.boot_id", "before.host.boot_id", "pcie_path.hop", "pci_config.acs"]
message = "{subject} had ACS redirect cleared at run time on {observed}; it returns at the next reboot"
preview = true
baseline = true
since = "0.2"
sources = ["review GDR-02", "incident I-004", "judgement: only a change within one boot proves a hand"]

[uses]
"pci_config.acs_request_redirect" = "the earlier or the current value alone can show that nothing was cleared"
"pci_config.acs_completion_redirect" = "the same"
"before.pci_config.acs_request_redirect" = "the same"
"before.pci_config.acs_completion_redirect" = "the same"
+++
## Why it matters
A fix with `setpci` lasts until the next reboot. Then GPUDirect is slow or broken again (`acs-redirect`), e.g. on the day
the host comes back from repair.

## What to do
Add the ports to `pci=disable_acs_redir=` (takes a reboot; then check in the kernel log that it was applied), or turn ACS
off in the BIOS. A unit that runs at every boot is the second choice. The current setting stays as it is.

## Exceptions
A unit or operator that was installed just now may clear the bits at the next boot: neither is collected. Bits that a reboot
has cleared count as permanent, and snapshots from two boots are not compared.
*/
with ports as (
    select distinct target, hop from pcie_path where place > 0
),

-- What the kernel was started with left these bits on at this boot, so it will leave them on at the next.
changes as (
    select
        p.target,
        any_known(
            case c.acs
                when 'absent' then false
                when 'present' then (b.acs_request_redirect or b.acs_completion_redirect)
                    and not (c.acs_request_redirect or c.acs_completion_redirect)
            end
        ) as is_cleared,
        list(p.hop order by p.hop) filter (
            (b.acs_request_redirect or b.acs_completion_redirect) and not (c.acs_request_redirect or c.acs_completion_redirect)
        ) as cleared
    from ports as p
    left join pci_config as c on c.target = p.target and c.pci = p.hop
    left join before.pci_config as b on b.target = p.target and b.pci = p.hop
    group by p.target
)

select
    h.target,
    len(c.cleared) || case when len(c.cleared) = 1 then ' PCIe port' else ' PCIe ports' end as observed,
    'cleared by BIOS or kernel' as expected,
    -- A reboot between the two: whatever cleared the bits has done it at boot.
    h.virtualization = 'bare metal' and h.gpus > 0 and n.boot_id = o.boot_id as applies,
    c.is_cleared as fault,
    'at ' || array_to_string(c.cleared, ', ') as detail
from host_scope as h
left join host as n on n.target = h.target
left join before.host as o on o.target = h.target
left join changes as c on c.target = h.target
