/* +++
id = "firmware-change-not-applied"
aliases = ["FWC-04"]
title = "Firmware change still pending after a reboot"
severity = "high"
subject = "nic"
needs = [
  "nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text", "before.nic_parameter.current_text",
  "before.nic_parameter.next_text", "host.boot_id", "before.host.boot_id",
]
message = "{subject}: {observed} was pending before the last reboot and still is"
action = "reset"
disturbs = "NIC reset"
baseline = true
since = "0.2"
sources = ["review FWC-04, G-PF, EFFECTS", "incident I-119, I-120, I-121"]

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"nic_parameter.read_only" = "older tools never mark read-only rows"
+++
## Why it matters
A reboot did not apply this change, so another one will not either. Automation that reboots until the value is active never
ends: this has put nodes into boot loops.

## What to do
1. Stop whatever reboots the host for this change.
2. Run `mlxfwreset -d PCI query`, then reset at the level that it offers. This takes down every function of the card.
3. If it offers none, or on a BlueField in DPU mode, do a cold power cycle of the host, with the Arm side shut down first.
4. Compare the current and the next value. On a BlueField also check the mode, which a firmware reset has been seen to
   change.

## Exceptions
A false positive if the same change was made again after the reboot, or if it was set back and made again in between.
*/
-- Read-only rows and N/A cannot be pending. Arrays are printed as a range, so two of them look alike.
with cards as (
    select target, pci, any_known(current_text <> next_text) as is_waiting
    from nic_parameter
    where read_only is not true and ('N/A' in (current_text, next_text)) is not true
    group by target, pci
),

then_and_now as (
    select
        p.target,
        p.pci,
        p.name || case when p.port > 0 then '_P' || p.port else '' end || ' ' || p.current_text || ' to ' || p.next_text as words,
        case
            when b.current_text is null or b.next_text is null then null
            else b.current_text <> b.next_text and b.next_text = p.next_text
        end as is_left_over
    from nic_parameter as p
    left join before.nic_parameter as b
        on b.target = p.target and b.pci = p.pci and b.name = p.name and b.port = p.port and b.element = p.element
    where p.current_text <> p.next_text and p.read_only is not true and not 'N/A' in (p.current_text, p.next_text)
),

left_over as (
    select
        target,
        pci,
        any_known(is_left_over) as is_left_over,
        string_agg(words, ', ' order by words) filter (is_left_over) as words
    from then_and_now
    group by target, pci
)

select
    n.target,
    n.pci,
    w.words as observed,
    'active after a reboot' as expected,
    -- A guest's virtual function has no parameters of its own (ids: mlx5_core's table).
    not is_of_other_vendor(n.vendor) and not is_virtual_function(n.device_id)
    and c.is_waiting and h.boot_id <> e.boot_id as applies,
    w.is_left_over as fault
from nic_scope as n
left join host as h on h.target = n.target
left join before.host as e on e.target = n.target
left join cards as c on c.target = n.target and c.pci = n.pci
left join left_over as w on w.target = n.target and w.pci = n.pci
