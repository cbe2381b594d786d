/* +++
id = "FWC-03"
title = "A firmware parameter that the site names changes at the next reset"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text"]
message = "{subject}: {observed} waits for a reset"
implied_by = ["FWC-04", "FWC-05"]
since = "0.2"
sources = [
  "rules-review.md FWC-03, G-PF, section 8",
  "reference.md B1.0",
  "mstflint issue 551",
  "judgement: without a plan of its own the site file says which parameters are managed",
]

[uses]
"wanted_parameter.value" = "for the words"
"nic_scope.role" = "a function without a port of its own has no role; only management and unused ports are left out"
"rdma_device.pci" = "says the board id without root; flint does where the RDMA device is in a pod's namespace"
"rdma_device.psid" = "the same"
"nic_firmware.psid" = "asked only where no RDMA device is seen"
"nic_parameter.read_only" = "older tools never mark read-only rows"
"probe_result.status" = "tells a parameter that the card does not offer from one that was not read"
+++
## Why it matters
The value that is set is not the value in force. Either a change was made and never took hold, or the next reset takes
away a value that the site wants. What is wrong with the value in force is told by INTENT.parameter.

## What to do
`mlxconfig -d PCI -e query NAME` shows current and next boot. Is the next value the wanted one: `mlxfwreset -d PCI
query`, then the level that it offers, in a window; it takes down every function of the card, on multi-host and Socket
Direct cards those of the other hosts too. Is it not: `mlxconfig -d PCI set NAME=VALUE`, which touches nothing until the
next reset.

## When it is wrong
A change that was staged on purpose and waits for its window: how long it has been waiting is not known from one
snapshot. Arrays are not compared: the tool prints them as a range.
*/
with named as (
    select
        psid,
        value,
        regexp_extract(name, '^(.*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]+)\])?$', ['name', 'port', 'element']) as said
    from wanted_parameter
),

boards as (
    select target, pci, min(psid) as psid
    from rdma_device
    group by all
),

cards as (
    select
        n.target,
        n.pci,
        n.device_id,
        n.role,
        case when r.pci is null then f.psid else r.psid end as psid,
        q.status = 'ok' as is_answered
    from nic_scope as n
    left join boards as r on r.target = n.target and r.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
    left join probe_result as q on q.target = n.target and q.instance = n.pci and q.probe = 'mlxconfig'
),

-- Read-only rows and N/A cannot wait. Arrays are printed as a range, so two of them look alike.
waiting as (
    select
        c.target,
        c.pci,
        any_known(p.current_text <> p.next_text) as is_waiting,
        string_agg(
            p.name || case when p.port > 0 then '_P' || p.port else '' end || ' ' || p.current_text || ' to ' || p.next_text
            || ' (the site wants ' || w.value || ')',
            ', ' order by p.name, p.port
        ) filter (p.current_text <> p.next_text) as words
    from cards as c
    inner join named as w on w.psid = c.psid
    inner join nic_parameter as p
        on p.target = c.target and p.pci = c.pci and p.name = w.said.name
        and p.port = coalesce(try_cast(w.said.port as integer), 0) -- null: not per port
        and p.element = coalesce(try_cast(w.said.element as integer), -1) -- null: not an element
    where p.read_only is not true and ('N/A' in (p.current_text, p.next_text)) is not true
    group by c.target, c.pci
)

select
    c.target,
    c.pci,
    w.words as observed,
    'nothing waits' as expected,
    case
        when (select count(psid) from wanted_parameter) = 0 then false
        when c.device_id in ('1012', '1014', '1016', '1018', '101a', '101c', '101e', 'a2d3') then false -- virtual: no NV config
        when c.role in ('management', 'unused') then false
        when c.device_id is null or c.psid is null then null
        when not c.psid in (select psid from wanted_parameter) then false
        when w.pci is null and c.is_answered then false -- what the card does not offer cannot wait
        else true
    end as applies,
    w.is_waiting as fault
from cards as c
left join waiting as w on w.target = c.target and w.pci = c.pci
