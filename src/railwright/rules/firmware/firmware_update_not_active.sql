/* +++
id = "firmware-update-not-active"
aliases = ["FWC-08"]
title = "Firmware update not active"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "nic_firmware.version", "nic_firmware.running_version"]
message = "{subject} runs firmware {observed}; its flash holds {expected}"
action = "reset"
setting = "nic.reset"
since = "0.2"
sources = [
  "review FWC-08",
  "review G-PF, EFFECTS",
  "reference B1.0",
  "Linux mlx5_core main.c (ids of virtual functions), devlink.c (running and stored version)",
]

[unless]
"nic_firmware.version" = "devlink reports it"
"nic_firmware.running_version" = "devlink reports it"

[uses]
"nic_scope.vendor" = "cards of other vendors do not have this, or it is not collected"
"nic_scope.role" = "a function without its own port has no role; only management and unused ports are skipped"
"devlink_device.pci" = "used only where flint gave nothing: flint needs root, devlink does not"
"devlink_version.version" = "the same"
+++
## Why it matters
An update that was burned and never activated has no effect. The card keeps running the old firmware, while inventories that
read the flash report the new version. The new firmware then becomes active at some later, unplanned reset.

## What to do
1. In a maintenance window, run `mlxfwreset -d PCI query`, then reset at the level that it offers (3 is driver restart and
   PCI reset). A firmware reset takes down every function of the card, on multi-host and Socket Direct cards those of the
   other hosts too. The card may carry the management link.
2. If the machine keeps the slot powered over a warm reboot, do a cold power cycle: nothing else helps.
3. Read the running version again.

## Exceptions
An update may be staged on purpose until its maintenance window: waive the finding. flint prints the running version only if
it differs from the flash.
*/
with functions as (
    select
        target,
        regexp_replace(pci, '\.[0-7]$', '') as slot,
        count(*) as count
    from nic_scope
    group by all
),

-- Newer kernels name the same version twice, as fw and as fw.version.
told_by_driver as (
    select
        d.target,
        d.pci,
        max(v.version) filter (v.kind = 'running') as running,
        max(v.version) filter (v.kind = 'stored') as stored
    from devlink_device as d
    inner join devlink_version as v on v.target = d.target and v.handle = d.handle
    where v.name = 'fw.version'
    group by d.target, d.pci
),

versions as (
    select
        n.target,
        n.pci,
        n.role,
        n.vendor,
        n.device_id,
        -- '' = flint printed none: the same as in the flash.
        case when f.pci is null then d.running when f.running_version = '' then f.version else f.running_version end as running,
        case when f.pci is null then d.stored else f.version end as stored
    from nic_scope as n
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
    left join told_by_driver as d on d.target = n.target and d.pci = n.pci
)

select
    v.target,
    v.pci,
    v.running as observed,
    v.stored as expected,
    -- A guest's virtual function has no flash of its own (ids: mlx5_core's table).
    not is_of_other_vendor(v.vendor) and not is_virtual_function(v.device_id)
    and not coalesce(v.role, '') in ('management', 'unused') as applies, -- null: without a port, no role
    v.running <> v.stored as fault,
    'a reset takes down ' || c.count || ' function(s) in this slot' as detail
from versions as v
left join functions as c on c.target = v.target and c.slot = regexp_replace(v.pci, '\.[0-7]$', '')
