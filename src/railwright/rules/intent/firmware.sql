/* +++
id = "INTENT.firmware"
title = "Firmware is not the version that the site wants"
severity = "medium"
subject = "nic"
needs = ["nic_scope.device_id", "rdma_device.pci", "rdma_device.psid", "rdma_device.firmware_version"]
message = "{subject} runs firmware {observed}, the site wants {expected}"
implied_by = ["FWC-08"]
since = "0.2"
sources = [
  "review FWC-01, G-PF, EFFECTS",
  "reference B1.0",
  "incident I-124",
  "Linux mlx5_core main.c (ids of virtual functions)",
]

[unless]
"rdma_device.pci" = "flint tells it"
"rdma_device.psid" = "flint tells it"
"rdma_device.firmware_version" = "flint tells it"

[uses]
"wanted_firmware.version" = "nothing is wanted of boards that the site does not name"
"nic_firmware.psid" = "asked only where no RDMA device is seen: in a pod's namespace, or the second function of a bond"
"nic_firmware.version" = "the same"
"nic_firmware.running_version" = "the same"
+++
## Why it matters
The site has decided which firmware cards of this type run. Another version brings other defaults and other known faults
into the same fabric.

## What to do
Burn the wanted version with `flint` or `mlxfwmanager`, then activate it with `mlxfwreset -d PCI reset` at a level that
`query` offers, in a window: it takes down every function of the card, on multi-host and Socket Direct cards those of
the other hosts too, and may carry the management link. Firmware parameters survive an update, but compare them
afterwards: defaults of new ones may differ.

## When it is wrong
During a rolling upgrade for the hosts that are still to come. A guest's virtual functions are left out: the host below
decides.
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
    c.psid || case when c.in_flash = w.version then ', the flash already holds it' else '' end as detail
from cards as c
left join wanted_firmware as w on w.psid = c.psid
