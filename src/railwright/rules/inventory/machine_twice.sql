/* +++
id = "machine-twice"
aliases = ["INV-05"]
title = "Duplicate targets for one machine"
severity = "medium"
subject = "host"
peers = true
needs = ["host.boot_id"]
message = "{subject} is the same machine as {observed}; expected {expected}"
action = "ask"
since = "0.2"
sources = [
  "random(4): boot_id is new at every boot, once per kernel",
  "judgement: severity; containers of one host share its boot",
]

[uses]
"target.kind" = "only hosts are judged"
"target.status" = "a target that did not answer is not a duplicate"
+++
## Why it matters
Both targets were collected, and both answers came from one machine: an address, an alias or an ssh configuration leads to
the wrong host, or two pods run on one node. The intended machine has not been checked, whatever it may have lost;
everything reported under its name is about the other one.

## What to do
1. Check where each name leads: `getent hosts NAME`, `ssh -G NAME`, and `hostname` on both.
2. Correct the name or the inventory, not the machine.
3. Collect again.

## Exceptions
Expected if a host is listed twice on purpose, under two names. Then remove one of them from the inventory.
*/
with boots as (
    select boot_id, count(*) as targets, min(target) as first_target, max(target) as last_target -- null: names of targets
    from host
    where boot_id <> ''
    group by boot_id
),

-- A host that answered without its boot ID may be any other.
everyone as (
    select count(*) as hosts, count(*) filter (t.status = 'reached' and h.boot_id is null) as silent
    from target as t
    left join host as h on h.target = t.target
    where t.kind = 'host'
)

select
    t.target,
    case when b.targets > 1 then 'another target' when b.targets = 1 then 'no other target' end as observed,
    'a machine of its own' as expected,
    e.hosts > 1 as applies,
    case when h.boot_id is not null then case when b.targets > 1 then true when e.silent = 0 then false end end as fault,
    case when b.targets > 1 then 'the same as ' || case when b.first_target = t.target then b.last_target else b.first_target end end as detail
from target as t
cross join everyone as e
left join host as h on h.target = t.target
left join boots as b on b.boot_id = h.boot_id
where t.kind = 'host'
