/* +++
id = "LNK-12"
title = "A NIC reported an error of its cable or module"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed}"
since = "0.3"
sources = [
  "Linux mlx5 core events.c: the list of errors of a module (power, temperature, EEPROM, part number, short, ...)",
  "truth A3: nobody read these messages",
]

[grades]
high = "it is the last that was told of that cage"
low = "a module was plugged since, or came back"

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
The firmware has shut the module down, or runs it with less power: the link is down, or will be.

## What to do
Take the words literally: cool it (High Temperature), use a module within the cage's power class (Power budget exceeded), take a part from
the card's list of supported ones (Enforce part number list), seat or replace it (Bus stuck, No EEPROM, Bad or shorted).

## When it is wrong
Somebody pulled the cable halfway and put it back: then it is low, and gone at the next boot.
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
    'no error of a module since boot' as expected,
    not is_of_other_vendor(n.vendor) as applies,
    case when c.pci is not null then true when w.is_whole then false end as fault,
    n.device as detail,
    case when c.is_last then 'high' else 'low' end as severity
from nic_scope as n
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = n.target
left join cards as c on c.target = n.target and c.pci = n.pci
