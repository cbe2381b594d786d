/* +++
id = "FWC-03"
title = "Firmware parameters change at the next reset"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text"]
message = "{subject}: {observed} waits for a reset"
implied_by = ["FWC-04", "FWC-05"]
since = "0.2"
sources = [
  "review FWC-03, G-PF, EFFECTS",
  "reference B1.0",
  "mstflint issue 551",
  "judgement: without a plan of its own the site file says which parameters are managed",
]

[uses]
"nic_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"wanted_parameter.value" = "a site that names none has none that counts more"
"nic_scope.role" = "a function without a port of its own has no role; only management and unused ports are left out"
"rdma_device.pci" = "which board it is decides the severity alone"
"rdma_device.psid" = "the same; says it without root"
"nic_firmware.psid" = "the same; asked where no RDMA device is seen, as in a pod's namespace"
"nic_parameter.read_only" = "older tools never mark read-only rows"

[grades]
medium = "one of them is named by the site file for this board, or the board is not known"
info = "the site file names none of them"
+++
## Why it matters
The value that is set is not the value in force. Either a change was made and never took hold, or the next reset changes
what the card does, at a time that nobody chose for it; it may take away a value that the site wants. What is wrong with the
value in force is told by INTENT.parameter.

## What to do
`mlxconfig -d PCI -e query NAME` shows current and next boot. Is the next value the wanted one: `mlxfwreset -d PCI
query`, then the level that it offers, in a window; it takes down every function of the card, on multi-host and Socket
Direct cards those of the other hosts too. Is it not: `mlxconfig -d PCI set NAME=VALUE`, which touches nothing until the
next reset. Name the parameters that matter in the site file: they are then held against it (INTENT.parameter).

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
        n.vendor,
        n.device_id,
        n.role,
        case when r.pci is null then f.psid else r.psid end as psid
    from nic_scope as n
    left join boards as r on r.target = n.target and r.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
),

-- Read-only rows and N/A cannot wait. Arrays are printed as a range, so two of them look alike.
rows as (
    select
        c.target,
        c.pci,
        c.psid,
        p.name || case when p.port > 0 then '_P' || p.port else '' end as name,
        p.current_text <> p.next_text as is_waiting,
        p.current_text || ' to ' || p.next_text as words,
        w.value as wanted
    from cards as c
    inner join nic_parameter as p on p.target = c.target and p.pci = c.pci
    left join named as w
        on w.psid = c.psid and w.said.name = p.name
        and coalesce(try_cast(w.said.port as integer), 0) = p.port -- null: not per port
        and coalesce(try_cast(w.said.element as integer), -1) = p.element -- null: not an element
    where p.read_only is not true and ('N/A' in (p.current_text, p.next_text)) is not true
),

waiting as (
    select
        target,
        pci,
        any_known(is_waiting) as is_waiting,
        count(wanted) filter (is_waiting) > 0 as is_named,
        string_agg(
            name || ' ' || words || case when wanted is null then '' else ' (the site wants ' || wanted || ')' end,
            ', ' order by wanted is null, name
        ) filter (is_waiting) as words
    from rows
    group by target, pci
)

select
    c.target,
    c.pci,
    w.words as observed,
    'nothing waits' as expected,
    -- A guest's virtual function has no parameters of its own (ids: mlx5_core's table).
    not is_of_other_vendor(c.vendor) and not is_virtual_function(c.device_id)
    and not coalesce(c.role, '') in ('management', 'unused') as applies, -- null: without a port there is no role
    w.is_waiting as fault,
    case
        when w.is_named then 'medium'
        when c.psid is not null or (select count(psid) from wanted_parameter) = 0 then 'info'
        else 'medium'
    end as severity
from cards as c
left join waiting as w on w.target = c.target and w.pci = c.pci
