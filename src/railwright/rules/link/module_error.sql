/* +++
id = "module-error"
aliases = ["LNK-12"]
title = "Module or cable error reported by NIC"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed}"
action = "reseat"
since = "0.3"
sources = [
  "Linux mlx5 core events.c: the list of errors of a module (power, temperature, EEPROM, part number, short, ...)",
]

[grades]
high = "the error is the latest event of that cage"
low = "a module was plugged in since, or came back"

[unless]
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"nic_scope.vendor" = "a card of another vendor has no such message"
"kernel_message.pci" = "every message of a NIC's driver names one"
"kernel_message.module" = "every message of this kind names the cage"
"kernel_message.event" = "every message of this kind says what happened"
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
The firmware has shut the module down or runs it at reduced power: the link is down, or soon will be.

## What to do
Act on the error text: cool the module (High Temperature), use a module within the cage's power class (Power budget
exceeded), use a part from the card's list of supported parts (Enforce part number list), reseat or replace the module (Bus
stuck, No EEPROM, Bad or shorted).

## Exceptions
Expected if a cable was pulled halfway and put back. The finding is then low, and is gone after the next boot.
*/
with events as (
    select target, pci, module, kind, event, place = max(place) over (partition by target, pci, module) as is_last
    from kernel_message
    where kind in ('module', 'module_error')
),

cards as (
    select
        target,
        pci,
        bool_or(is_last) as is_last, -- null: a place is always there
        string_agg(distinct printf('cage %d: %s', module, event), ', ' order by printf('cage %d: %s', module, event)) as words
    from events
    where kind = 'module_error'
    group by target, pci
)

select
    n.target,
    n.pci,
    c.words as observed,
    'no module error since boot' as expected,
    not is_of_other_vendor(n.vendor) as applies,
    case when c.pci is not null then true when w.is_whole then false end as fault,
    n.device as detail,
    case when c.is_last then 'high' else 'low' end as severity
from nic_scope as n
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = n.target
left join cards as c on c.target = n.target and c.pci = n.pci
