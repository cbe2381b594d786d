/* +++
id = "pcie-uncorrected-errors"
aliases = ["PCI-12"]
title = "Uncorrectable PCIe error in the kernel log"
severity = "high"
subject = "host"
needs = ["pcie_endpoint.kind", "kernel_message.kind"]
message = "{subject}: {observed}"
action = "reseat"
covers = ["PCI-09"]
since = "0.3"
sources = [
  "Linux Documentation/PCI/pcieaer-howto.rst: uncorrected errors are fatal, or lose a transaction",
  "judgement: a device that is not on the bus any more counts as one of them",
]

[grades]
high = "fatal: the link was reset"
medium = "non-fatal: a transaction was lost"

[unless]
"pcie_endpoint.kind" = "a card that is gone from the bus still left its messages"
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"pcie_path.hop" = "a bridge above a NIC or a GPU; a bridge that was not read as one counts too"
"kernel_message.pci" = "every message of this kind names the device that reported"
"kernel_message.text" = "every message of this kind is Fatal or Non-Fatal"
+++
## Why it matters
A transaction between card and host was lost, or the link was reset. The driver may have recovered; the jobs that used the
card did not. A link that does this once does it again.

## What to do
1. Run `lspci -vvv -s BDF` to see which error it was (UESta).
2. Reseat card, riser and cables.
3. Try another slot.
4. Compare the firmware of card, retimers and switches with hosts that do not have the error.

If it happens a second time, remove the card.

## Exceptions
Expected if a device was reset or removed on purpose. A root port reports on behalf of the devices below it, so the device
that is named is not necessarily the faulty one.
*/
with known as (
    select
        target,
        any_known(kind in ('nic', 'gpu')) as has_card
    from pcie_endpoint
    group by target
),

-- Drives and the like are out of scope; a device that has left the bus may have been a NIC or GPU.
errors as (
    select m.target, m.pci, bool_or(m.text in ('Fatal', 'ERR_FATAL')) as is_fatal, count(*) as times -- null: not all tell
    from kernel_message as m
    left join (select distinct target, hop as pci from pcie_path) as w on w.target = m.target and w.pci = m.pci
    left join pcie_endpoint as e on e.target = m.target and e.pci = m.pci
    left join pci_function as f on f.target = m.target and f.pci = m.pci
    where m.kind = 'aer_uncorrected' and (w.pci is not null or e.pci is not null or f.pci is null)
    group by m.target, m.pci
),

hosts as (
    select
        target,
        bool_or(is_fatal) as is_fatal, -- null: not all tell
        string_agg(
            printf('%s uncorrectable error%s', case when is_fatal then 'a fatal' else 'an' end, case when times > 1 then ' (' || times || ' times)' else '' end),
            ', ' order by is_fatal, times, pci
        ) as words,
        string_agg(pci, ', ' order by is_fatal, times, pci) as places
    from errors
    group by target
)

select
    t.target,
    h.words as observed,
    'no uncorrectable PCIe error since boot' as expected,
    case when h.target is not null then true else k.has_card end as applies,
    case when h.target is not null then true when l.is_whole then false end as fault,
    'at ' || h.places as detail,
    case when h.is_fatal then 'high' else 'medium' end as severity
from host_scope as t
left join known as k on k.target = t.target
left join hosts as h on h.target = t.target
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as l on l.target = t.target
