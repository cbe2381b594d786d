/* +++
id = "N-09"
title = "The NIC's firmware is told to limit its PCIe link"
severity = "high"
subject = "nic"
needs = ["nic_scope.virtualization", "nic_scope.driver", "nic_scope.role", "nic_parameter.current_code"]
message = "{subject} limits its own PCIe link: {observed}"
since = "0.2"
sources = ["review N-09", "reference B1.1"]

[uses]
"nic_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"nic_scope.is_grace" = "Grace root ports are no guest's, where lscpu cannot tell"
"nic_scope.inferred" = {purpose = "severity"}
"nic_scope.device" = "tells a device that was lent to a pod, or is half of a bond"
"port_scope.role" = "only for half of a bond: the role of the other function in its slot"
"port_scope.pci" = "the same"
"pci_function.parent" = "the same"
"nic_scope.netns_mode" = "only in exclusive mode does a lent RDMA device vanish from the host"
"nic_parameter.current_text" = {purpose = "words"}
"probe_result.status" = "tells a parameter that the card does not have from one that was not read"
+++
## Why it matters
`PCI_BUSn_RESTRICT` can only lower speed or lanes of the link, never raise them: the values below it (`_SPEED` 0 is Gen1,
`_WIDTH` 0 is x1) count as soon as it is true. Set by accident, or left from a test, it explains a slow slot that no
reseating cures.

## What to do
`mlxconfig -d PCI set PCI_BUS0_RESTRICT=0`. It changes nothing until the firmware starts again: `mlxfwreset` (which takes
down every function and host of the card) or a power cycle. Then look at PCI-01 and PCI-02 again.

## When it is wrong
A site that limits the link on purpose, for a riser that fails at full speed, waives the card. A change that is only
staged for the next start is not counted here.
*/
with limits as (
    select
        target,
        pci,
        any_known(current_code = 1) as is_limited,
        string_agg(name || '=' || current_text, ', ' order by name) filter (current_code = 1) as observed
    from nic_parameter
    where name in ('PCI_BUS0_RESTRICT', 'PCI_BUS1_RESTRICT', 'PCI_BUS2_RESTRICT', 'PCI_BUS3_RESTRICT',
        'PCI_BUS4_RESTRICT', 'PCI_BUS5_RESTRICT', 'PCI_BUS6_RESTRICT', 'PCI_BUS7_RESTRICT')
    group by target, pci
),

-- The second half of a bond has no RDMA device of its own: what the other function in its slot is for, it is for too.
slots as (
    select p.target, f.parent, any_known(p.role = 'compute') as is_compute
    from port_scope as p
    inner join pci_function as f on f.target = p.target and f.pci = p.pci and f.parent <> ''
    group by p.target, f.parent
)

select
    n.target,
    n.pci,
    l.observed,
    'no limit' as expected,
    (n.virtualization <> 'guest' or n.is_grace)
        and not is_of_other_vendor(n.vendor)
        and n.driver <> 'vfio-pci'
        and not (n.device is null and n.netns_mode = 'exclusive' and rdma.status is not null)
        -- The tool answered and does not name it: this card has no such parameter.
        and not (l.pci is null and asked.status is not null)
        and case when n.device is null then w.is_compute else n.role = 'compute' end as applies,
    l.is_limited as fault,
    n.inferred
from nic_scope as n
left join pci_function as f on f.target = n.target and f.pci = n.pci
left join slots as w on w.target = f.target and w.parent = f.parent
left join limits as l on l.target = n.target and l.pci = n.pci
left join probe_result as asked
    on asked.target = n.target and asked.probe = 'mlxconfig' and asked.instance = n.pci and asked.status = 'ok'
left join probe_result as rdma
    on rdma.target = n.target and rdma.probe = 'infiniband' and rdma.status in ('ok', 'absent')
