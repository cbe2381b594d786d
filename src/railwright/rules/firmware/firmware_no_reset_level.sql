/* +++
id = "firmware-no-reset-level"
aliases = ["FWC-05"]
title = "Pending firmware change, no usable reset level"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "nic_parameter.current_text", "nic_parameter.next_text", "nic_reset.supported_levels"]
message = "{subject} has a pending change and supports {observed}"
action = "reset"
disturbs = "power cycle"
since = "0.2"
sources = [
  "review FWC-05, G-PF, EFFECTS",
  "incident I-123",
  "reference B1.0",
  "mstflint man/mstfwreset.md: levels",
]

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"nic_firmware.version" = "a firmware update is pending until a reset, too"
"nic_firmware.running_version" = "the same"
"nic_parameter.read_only" = "older tools never mark read-only rows"
+++
## Why it matters
Neither a firmware reset nor a reboot will apply the change. The tool has been seen to recommend one of them anyway.

## What to do
1. Schedule a cold power cycle of the host, on a multi-host card of all its hosts. On a BlueField, shut down the Arm side
   first.
2. Power off, wait until the slot's standby supply is off, and power on.
3. Compare the current and the next value.

## Exceptions
The driver or another host of the card may have blocked the reset at the time of the query: query again with the port idle.
*/
-- Read-only rows and N/A cannot be pending. Arrays are printed as a range, so two of them look alike.
with cards as (
    select target, pci, any_known(current_text <> next_text) as is_waiting
    from nic_parameter
    where read_only is not true and ('N/A' in (current_text, next_text)) is not true
    group by target, pci
),

functions as (
    select target, regexp_replace(pci, '\.[0-7]$', '') as slot, count(*) as count
    from nic_scope
    group by all
)

select
    n.target,
    n.pci,
    case when r.supported_levels = '' then 'no reset level' else 'only reset level ' || r.supported_levels end as observed,
    'reset level 3, 4 or 5' as expected,
    -- A guest's virtual function has no parameters of its own (ids: mlx5_core's table).
    not is_of_other_vendor(n.vendor) and not is_virtual_function(n.device_id)
    and (c.is_waiting or (f.running_version <> '' and f.running_version <> f.version)) as applies,
    -- Level 0 patches running firmware, level 1 restarts the Arm side: neither re-reads the parameters.
    not list_has_any(string_split(r.supported_levels, ','), ['3', '4', '5']) as fault,
    'a reset takes down ' || g.count || ' function(s) in this slot' as detail
from nic_scope as n
left join cards as c on c.target = n.target and c.pci = n.pci
left join nic_firmware as f on f.target = n.target and f.pci = n.pci
left join nic_reset as r on r.target = n.target and r.pci = n.pci
left join functions as g on g.target = n.target and g.slot = regexp_replace(n.pci, '\.[0-7]$', '')
