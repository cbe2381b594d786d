/* +++
id = "FWC-03b"
title = "Firmware parameters change at the next reset"
severity = "info"
subject = "nic"
needs = ["nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text"]
message = "{subject}: {observed} waits for a reset"
implied_by = ["FWC-03", "FWC-04", "FWC-05"]
since = "0.2"
sources = ["rules-review.md FWC-03 (else info), G-PF, section 8", "reference.md B1.0", "mstflint issue 551"]

[uses]
"nic_scope.role" = "a function without a port of its own has no role; only management and unused ports are left out"
"nic_parameter.read_only" = "older tools never mark read-only rows"
+++
## Why it matters
Somebody set parameters that are not in force yet. The next reset or reboot changes what the card does, at a time that
nobody chose for it.

## What to do
`mlxconfig -d PCI -e query` shows current and next boot of each. Keep the change: `mlxfwreset -d PCI query`, then the
level that it offers, in a window; it takes down every function of the card. Drop it: `mlxconfig -d PCI set
NAME=CURRENT`, which touches nothing. Name the parameters that matter in the site file: they are then held against it
(INTENT.parameter) and a pending change of them counts as medium (FWC-03).

## When it is wrong
A change that was staged on purpose and waits for its window. Arrays are not compared: the tool prints them as a range.
*/
-- Read-only rows and N/A cannot wait. Arrays are printed as a range, so two of them look alike.
with cards as (
    select target, pci, any_known(current_text <> next_text) as is_waiting
    from nic_parameter
    where read_only is not true and ('N/A' in (current_text, next_text)) is not true
    group by target, pci
),

waiting as (
    select
        target,
        pci,
        string_agg(
            name || case when port > 0 then '_P' || port else '' end || ' ' || current_text || ' to ' || next_text,
            ', ' order by name, port
        ) as words
    from nic_parameter
    where current_text <> next_text and read_only is not true and not 'N/A' in (current_text, next_text)
    group by target, pci
)

select
    n.target,
    n.pci,
    w.words as observed,
    'nothing waits' as expected,
    -- A guest's virtual function has no parameters of its own (ids: mlx5_core's table).
    not n.device_id in ('1012', '1014', '1016', '1018', '101a', '101c', '101e', 'a2d3')
    and not coalesce(n.role, '') in ('management', 'unused') as applies, -- null: without a port there is no role
    c.is_waiting as fault
from nic_scope as n
left join cards as c on c.target = n.target and c.pci = n.pci
left join waiting as w on w.target = n.target and w.pci = n.pci
