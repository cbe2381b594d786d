/* +++
id = "pcie-corrected-errors"
aliases = ["PCI-11"]
title = "Correctable PCIe errors above peers"
severity = "low"
subject = "nic"
peers = true
needs = [
  "nic_scope.vendor", "nic_scope.virtualization", "nic_scope.driver", "nic_scope.device_id", "nic_scope.role",
  "host_scope.kind", "pci_function.parent", "pci_error.correctable", "before.pci_error.correctable", "host.boot_id",
  "before.host.boot_id",
]
message = "{subject}: {observed}; expected {expected}"
action = "reseat"
implied_by = ["pcie-errors-grow"]
preview = true
baseline = true
since = "0.2"
sources = [
  "review PCI-09, G-PF, G-FLEET, G-WINDOW (judgement)",
  "Linux Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats",
]

[uses]
"nic_scope.inferred" = {purpose = "severity"}

[parameters.most_per_hour]
default = 100
unit = "errors per hour"
reason = "review PCI-09 (judgement): a healthy link has none or a few; if the median is 0, this alone decides"

[parameters.times_median]
default = 10
unit = "times"
reason = "review PCI-09 (judgement): some boards count many everywhere"

[parameters.least_members]
default = 8
unit = "NICs"
reason = "review G-FLEET: fewer are too few to compare"
+++
## Why it matters
Each corrected error is a packet that was retransmitted on the PCIe link. Nothing is lost, but the link is marginal, stalls
for moments, and may train to a lower speed or fail at the next boot.

## What to do
Compare with the other NICs of the host. If only one is affected, suspect its card, slot or riser, and reseat it in the next
maintenance window. If all NICs of a host are affected, suspect the board, its firmware or its clock. A power cycle may be
needed. It is not urgent.

## Exceptions
Links in power saving (ASPM) count errors when they wake. If the two snapshots are less than an hour apart, a small number
looks large. If the firmware handles errors itself, the kernel counts nothing.
*/
with one_boot as (
    -- Counters compare only within one boot.
    select n.target
    from host as n
    inner join before.host as b on b.target = n.target and b.boot_id = n.boot_id
),

rates as (
    select
        n.target,
        n.pci,
        -- A count that went down belongs to a function that was removed and came back.
        case
            when n.correctable >= b.correctable and epoch(n.read_at) > epoch(b.read_at)
                then (n.correctable - b.correctable) * 3600.0 / (epoch(n.read_at) - epoch(b.read_at))
        end as per_hour
    from pci_error as n
    inner join one_boot as o on o.target = n.target
    inner join before.pci_error as b on b.target = n.target and b.pci = n.pci
),

-- The worse end of each card's link; the port above counts what the card sent.
links as (
    select
        s.target,
        s.pci,
        h.kind || ' ' || s.device_id || ' ' || s.role as peers,
        case
            when f.parent = '' then own.per_hour
            when own.per_hour is not null and above.per_hour is not null then greatest(own.per_hour, above.per_hour) -- null: both were read
        end as per_hour
    from nic_scope as s
    left join host_scope as h on h.target = s.target
    left join pci_function as f on f.target = s.target and f.pci = s.pci
    left join rates as own on own.target = s.target and own.pci = s.pci
    left join rates as above on above.target = s.target and above.pci = f.parent
),

peers as (
    select peers, count(per_hour) as members, median(per_hour) as usual -- null: peers without a rate do not count as members
    from links
    group by peers
)

select
    s.target,
    s.pci,
    printf('%.0f corrected errors per hour (peer median %.0f)', l.per_hour, p.usual) as observed,
    'at most ' || $most_per_hour || ', or ' || $times_median || ' times the median' as expected,
    s.vendor = '15b3' and s.driver = 'mlx5_core' and s.virtualization <> 'guest' as applies,
    case
        when l.per_hour <= $most_per_hour then case when l.peers is not null then false end
        when p.members >= $least_members then l.per_hour > $times_median * p.usual
    end as fault,
    'peers: ' || l.peers as detail,
    s.inferred
from nic_scope as s
left join links as l on l.target = s.target and l.pci = s.pci
left join peers as p on p.peers = l.peers
