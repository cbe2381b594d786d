/* +++
id = "nic-hot"
aliases = ["THM-02"]
title = "NIC temperature too high since boot"
severity = "high"
subject = "nic"
needs = ["kernel_message.kind"]
message = "{subject}: {observed}"
action = "reseat"
since = "0.3"
sources = [
  "Linux mlx5 core events.c: the firmware's temperature warning, with the sensors as bits",
]

[unless]
"kernel_message.kind" = "every message has one; a log that was not read has no messages"

[uses]
"kernel_message.text" = "names the health issue"
"nic_scope.vendor" = "a card of another vendor has no such message"
"kernel_message.pci" = "every message of a NIC's driver names one"
"nic_scope.device" = {purpose = "words"}
+++
## Why it matters
A NIC that is too hot slows down, drops its links or switches itself off. Its neighbors in the same airflow are next.

## What to do
Compare with the same slot of other hosts: fans, blanks in empty slots, inlet temperature, a module that draws more power
than planned. Run `mget_temp -d PCI` or `sensors` to see the current temperature.

## Exceptions
Expected if it happened once, when a fan was replaced or a load test ran without the cover. The log keeps the message until
the next boot.
*/
with hot as (
    select target, pci, count(*) as times
    from kernel_message
    where kind = 'temperature' or (kind = 'health' and text = 'High temperature')
    group by target, pci
)

select
    n.target,
    n.pci,
    printf('high temperature reported %d time%s', h.times, case when h.times > 1 then 's' else '' end) as observed,
    'none since boot' as expected,
    not is_of_other_vendor(n.vendor) as applies,
    case when h.pci is not null then true when w.is_whole then false end as fault,
    n.device as detail
from nic_scope as n
-- The log is a ring: without the first line of this boot older messages are lost.
left join kernel_log as w on w.target = n.target
left join hot as h on h.target = n.target and h.pci = n.pci
