/* +++
id = "firmware-differs"
aliases = ["FWC-01"]
title = "Firmware version drift"
severity = "medium"
subject = "nic"
peers = true
needs = [
  "nic_scope.device_id", "port_scope.cohort", "port_scope.pci", "rdma_device.pci", "rdma_device.firmware_version",
]
message = "{subject} runs firmware {observed}; most of its kind run {expected}"
action = "ask"
setting = "nic.firmware"
implied_by = ["intent-firmware", "firmware-update-not-active", "firmware-known-defect"]
since = "0.2"
sources = ["review FWC-01, G-FLEET, G-PF", "ROCm/mori pull 486"]

[parameters.least_members]
default = 8
unit = "NICs"
reason = "review G-FLEET: fewer are too few to compare"

[uses]
"nic_scope.inferred" = {purpose = "severity", why = "peer cards are grouped by role, among others"}
"probe_result.status" = "distinguishes a function without an RDMA device from one whose device was not collected"
+++
## Why it matters
Cards of one type that run different firmware differ in defaults, in congestion control and in known faults. A job that
spans both is only as good as the worse half, and the difference is hard to see from the outside.

## What to do
1. Choose one version for this board and set it in the site file (`[[nic]] psid, firmware`): the version is then checked
   against intent.
2. Burn it with `flint` or `mlxfwmanager`.
3. Activate it with `mlxfwreset` in a maintenance window: a reset takes down every function of the card.

## Exceptions
Expected during a rolling upgrade, until more than half of the group has the new version. Also expected for BlueField cards
that follow another firmware track on purpose: waive the finding.
*/
with devices as (
    select target, pci, min(firmware_version) as version
    from rdma_device
    group by all
),

cohorts as (
    select target, pci, min(cohort) as cohort
    from port_scope
    group by all
),

answered as (
    select target, bool_or(status in ('ok', 'absent')) as rdma -- null: no answer, no row
    from probe_result
    where probe = 'infiniband'
    group by target
),

-- A device without a PCI address may belong to any function.
homeless as (
    select distinct target from rdma_device where pci is null
),

members as (
    select
        n.target,
        n.pci,
        n.inferred,
        c.cohort,
        d.version,
        case
            -- A guest does not choose the firmware of the card behind its virtual function (ids: mlx5_core's table).
            when is_virtual_function(n.device_id) then false
            -- In a pod's namespace, or the second function of a bond.
            when d.pci is null and a.rdma and h.target is null then false
            when n.device_id is not null and d.pci is not null then true
        end as is_member
    from nic_scope as n
    left join devices as d on d.target = n.target and d.pci = n.pci
    left join cohorts as c on c.target = n.target and c.pci = n.pci
    left join answered as a on a.target = n.target
    left join homeless as h on h.target = n.target
),

groups as (
    select cohort, count(*) as members, mode_known(version) as version, differ_known(version) as differ
    from members
    where is_member is not false -- one that was not collected may differ
    group by cohort
)

select
    m.target,
    m.pci,
    m.version as observed,
    g.version as expected,
    m.is_member and case when m.cohort is not null then g.members >= $least_members or g.differ end as applies,
    case when m.version = g.version then false when g.members >= $least_members then m.version <> g.version end as fault,
    'peers: ' || m.cohort as detail,
    m.inferred,
    case when g.members < $least_members then 'few_peers' end as reason
from members as m
left join groups as g on g.cohort = m.cohort
