/* +++
id = "firmware-parameter-pending"
aliases = ["FWC-03"]
title = "Pending firmware parameter change"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text"]
message = "{subject}: {observed} takes effect at the next reset"
action = "ask"
setting = "nic.reset"
implied_by = ["firmware-change-not-applied", "firmware-no-reset-level"]
since = "0.2"
sources = [
  "review FWC-03, G-PF, EFFECTS",
  "reference B1.0",
  "mstflint issue 551",
  "judgement: without a plan of its own the site file says which parameters are managed",
]

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"wanted_parameter.value" = "if the site file names none, all have the same severity"
"nic_scope.role" = "a function without its own port has no role; only management and unused ports are skipped"
"rdma_device.pci" = "the board affects the severity only"
"rdma_device.psid" = "the same; available without root"
"nic_firmware.psid" = "the same; used where no RDMA device is visible, as in a pod's namespace"
"nic_parameter.read_only" = "older tools never mark read-only rows"

[grades]
medium = "the site file names one of them for this board, or the board is unknown"
info = "the site file names none of them"
+++
## Why it matters
The configured value is not the active value. Either a change was made and never took effect, or the next reset changes what
the card does at an unplanned time, and may undo a value that the site file requires. If the active value itself is wrong,
`intent-parameter` reports it.

## What to do
1. Run `mlxconfig -d PCI -e query NAME` to see the current and the next-boot value.
2. If the pending value is correct, run `mlxfwreset -d PCI query`, then reset at the level that it offers, in a maintenance
   window. This takes down every function of the card, on multi-host and Socket Direct cards those of the other hosts too.
3. If it is not, set it back with `mlxconfig -d PCI set NAME=VALUE`, which changes nothing until the next reset.
4. Name the parameters that matter in the site file: they are then checked against intent (`intent-parameter`).

## Exceptions
A change may be staged on purpose until its maintenance window: waive the finding. One snapshot does not show how long a
change has been pending. Arrays are not compared: the tool prints them as a range.
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

-- Read-only rows and N/A cannot be pending. Arrays are printed as a range, so two of them look alike.
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
            name || ' ' || words || case when wanted is null then '' else ' (intent: ' || wanted || ')' end,
            ', ' order by wanted is null, name
        ) filter (is_waiting) as words
    from rows
    group by target, pci
)

select
    c.target,
    c.pci,
    w.words as observed,
    'no pending change' as expected,
    -- A guest's virtual function has no parameters of its own (ids: mlx5_core's table).
    not is_of_other_vendor(c.vendor) and not is_virtual_function(c.device_id)
    and not coalesce(c.role, '') in ('management', 'unused') as applies, -- null: without a port, no role
    w.is_waiting as fault,
    case
        when w.is_named then 'medium'
        when c.psid is not null or (select count(psid) from wanted_parameter) = 0 then 'info'
        else 'medium'
    end as severity
from cards as c
left join waiting as w on w.target = c.target and w.pci = c.pci
