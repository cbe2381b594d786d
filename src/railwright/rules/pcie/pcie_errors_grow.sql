/* +++
id = "pcie-errors-grow"
aliases = ["PCI-09"]
title = "PCIe transactions lost"
severity = "high"
subject = "nic"
needs = [
  "nic_scope.vendor", "nic_scope.virtualization", "nic_scope.driver", "pci_function.parent", "pci_error.nonfatal",
  "pci_error.fatal", "before.pci_error.nonfatal", "before.pci_error.fatal", "host.boot_id", "before.host.boot_id",
]
message = "{subject} counted {observed}; expected {expected}"
action = "reseat"
preview = true
baseline = true
since = "0.2"
sources = [
  "review PCI-09, G-PF, G-ROLE, G-WINDOW (judgement)", "Linux Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats",
  "PCI Express Base Specification, Advanced Error Reporting: uncorrectable errors",
]

[uses]
"nic_scope.role" = "excludes management and unused ports; if the role is unknown, losses still count"
"nic_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
An uncorrectable error is a transaction lost between the NIC and its port: a completion timeout or a damaged packet. After a
fatal one the link is reset and the driver restarts; jobs on that NIC end.

## What to do
1. Run `grep . /sys/bus/pci/devices/PCI/aer_dev_*` to see which kind of error it was, and `dmesg` to see when.
2. Take the host out of jobs.
3. Reseat the card or the riser.
4. Update the firmware of card and board.
5. If that does not help, replace the card, then the board.

Work on the card needs a power cycle of the host.

## Exceptions
Tools that read addresses behind the card, and some resets, raise UnsupReq errors once. If the firmware handles errors
itself, the kernel sees few of them: a count of zero does not prove that there were none. Both snapshots must be from the
same boot.
*/
with one_boot as (
    -- Counters compare only within one boot.
    select n.target
    from host as n
    inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id
),

rises as (
    select
        n.target,
        n.pci,
        -- A count that went down belongs to a function that was removed and came back.
        case when n.nonfatal >= b.nonfatal then n.nonfatal - b.nonfatal end as nonfatal,
        case when n.fatal >= b.fatal then n.fatal - b.fatal end as fatal
    from pci_error as n
    inner join one_boot as o on o.target = n.target
    inner join before.pci_error as b on b.target = n.target and b.pci = n.pci
),

-- Both ends of the card's link.
ends as (
    select s.target, s.pci, s.pci as at, 'at the card' as side from nic_scope as s
    union all
    select s.target, s.pci, f.parent as at, 'at the port above it' as side
    from nic_scope as s
    inner join pci_function as f on f.target = s.target and f.pci = s.pci and (f.parent <> '' or f.parent is null)
),

judged as (
    select
        e.target,
        e.pci,
        any_known(r.nonfatal > 0 or r.fatal > 0) as fault,
        string_agg(
            r.fatal || ' fatal and ' || r.nonfatal || ' non-fatal uncorrectable errors ' || e.side, ', ' order by e.side
        ) filter (r.nonfatal > 0 or r.fatal > 0) as words,
        min(e.at) filter (e.at <> e.pci and (r.nonfatal > 0 or r.fatal > 0)) as port
    from ends as e
    left join rises as r on r.target = e.target and r.pci = e.at
    group by e.target, e.pci
)

select
    s.target,
    s.pci,
    j.words as observed,
    'none' as expected,
    s.vendor = '15b3' and s.driver = 'mlx5_core' and s.virtualization <> 'guest'
        and coalesce(s.role not in ('management', 'unused'), true) as applies, -- null: lost is lost, whatever the role
    j.fault,
    'port above: ' || j.port as detail,
    s.inferred
from nic_scope as s
left join judged as j on j.target = s.target and j.pci = s.pci
