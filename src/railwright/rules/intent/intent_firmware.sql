/* +++
id = "intent-firmware"
aliases = ["INTENT.firmware"]
title = "Firmware version does not match intent"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "rdma_device.pci", "rdma_device.psid", "rdma_device.firmware_version"]
message = "{subject} runs firmware {observed}; intent is {expected}"
action = "set"
setting = "nic.firmware"
implied_by = ["firmware-update-not-active"]
since = "0.2"
sources = [
  "review FWC-01, G-PF, EFFECTS",
  "reference B1.0",
  "incident I-124",
  "Linux mlx5_core main.c (ids of virtual functions)",
]

[unless]
"rdma_device.pci" = "flint reports it"
"rdma_device.psid" = "flint reports it"
"rdma_device.firmware_version" = "flint reports it"

[uses]
"wanted_firmware.version" = "boards that the site file does not name are not checked"
"nic_firmware.psid" = "read only if no RDMA device is visible: it is in a pod's namespace, or this is the second function of a bond"
"nic_firmware.version" = "the same"
"nic_firmware.running_version" = "the same"
+++
## Why it matters
The site file defines which firmware cards of this type run. Another version brings different defaults and different known
issues into the same fabric.

## What to do
1. Burn the intended version with `flint` or `mlxfwmanager`.
2. In a maintenance window, activate it with `mlxfwreset -d PCI reset` at a level that `query` offers. The reset takes
   down every function of the card, on multi-host and Socket Direct cards also those of the other hosts. The card may
   carry the management link.
3. Compare the firmware parameters. They survive an update, but defaults of new ones may differ.

## Exceptions
Expected during a rolling upgrade, on hosts that are still to be upgraded. Virtual functions in a guest are left out: the
host below decides.
*/
with devices as (
    select target, pci, min(psid) as psid, min(firmware_version) as version
    from rdma_device
    group by all
),

cards as (
    select
        n.target,
        n.pci,
        n.device_id,
        case when d.pci is null then f.psid else d.psid end as psid,
        case
            when d.pci is not null then d.version
            when f.running_version = '' then f.version -- flint prints the running one only where it differs
            else f.running_version
        end as version,
        f.version as in_flash
    from nic_scope as n
    left join devices as d on d.target = n.target and d.pci = n.pci
    left join nic_firmware as f on f.target = n.target and f.pci = n.pci
)

select
    c.target,
    c.pci,
    c.version as observed,
    w.version as expected,
    case
        when (select count(psid) from wanted_firmware) = 0 then false
        when is_virtual_function(c.device_id) then false -- virtual, in a guest
        when c.device_id is not null and c.psid is not null then w.psid is not null
    end as applies,
    c.version <> w.version as fault,
    c.psid || case when c.in_flash = w.version then ', intended version already in flash' else '' end as detail
from cards as c
left join wanted_firmware as w on w.psid = c.psid
