/* +++
id = "firmware-known-defect"
title = "Firmware with a published defect"
severity = "high"
subject = "nic"
needs = ["nic_scope.vendor", "nic_scope.device_id", "rdma_device.pci", "rdma_device.firmware_version"]
message = "{subject} runs firmware {observed}"
action = "ask"
disturbs = "NIC reset"
covers = ["FWC-02"]
since = "0.3"
sources = [
  "src/railwright/hardware/firmware_defects.toml: each defect with the page of NVIDIA's release notes that lists it",
  "judgement: how bad each is for a fabric of GPUs; what shows only during a reset or an update is left out",
]

[grades]
high = "the link does not come up"
medium = "traffic suffers where the conditions of the defect apply"
low = "it shows rarely, or only in counters"

[uses]
"nic_scope.link_layer" = "used where a defect is specific to InfiniBand or Ethernet"
"nic_scope.inferred" = {purpose = "severity"}
"mlxlink_port.part_number" = "used where a defect is specific to one module"
"mlxlink_port.cable_type" = "used where a defect is specific to optical links"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, used where a defect is specific to programmable congestion control"
"probe_result.status" = "distinguishes a function without an RDMA device from one whose device was not collected"
+++
## Why it matters
The vendor has published this defect, but from within one fabric its symptoms do not point to the firmware: a link that
stays down with one type of module, lost bandwidth on long links, counters that stand still.

## What to do
1. Look up the reference in the release notes, and read the notes of the newest version for this board.
2. Burn that version with `flint` or `mlxfwmanager`, first on one host.
3. Activate it with `mlxfwreset` in a maintenance window: a reset takes down every function of the card.
4. If no version fixes the defect, check whether the notes name a workaround.

## Exceptions
Release notes say in which version a defect was found and which notes still list it, not where it began. Versions outside
that range are unknown and not reported. Firmware of a server vendor (other PSIDs) may have a fix earlier: waive the
finding. The list is of 2026-11 and does not contain defects that depend on the link partner.
*/
with versions as (
    select target, pci, min(firmware_version) as version
    from rdma_device
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

listed as (
    select target, pci, unnest(firmware_defects()) as defect, version
    from versions
),

met as (
    select
        l.target,
        l.pci,
        l.defect,
        (l.defect.link_layer = '' or n.link_layer = l.defect.link_layer)
        and (l.defect.cable = '' or starts_with(m.part_number, l.defect.cable))
        and (not l.defect.optical or (m.cable_type <> '' and not contains(lower(m.cable_type), 'copper')))
        and (not l.defect.programmable or u.current_code = 1) as is_met
    from listed as l
    left join nic_scope as n on n.target = l.target and n.pci = l.pci
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
    left join nic_parameter as u
        on u.target = l.target and u.pci = l.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
    where firmware_number(l.version) between l.defect.first and l.defect.last
),

cards as (
    select
        target,
        pci,
        any_known(is_met) as is_met,
        min(case defect.severity when 'high' then 1 when 'medium' then 2 else 3 end) filter (is_met) as grade,
        string_agg(distinct defect.number || ': ' || defect.words, '; ') filter (is_met) as words
    from met
    group by target, pci
)

select
    n.target,
    n.pci,
    case when c.words is not null then v.version || ', for which the vendor lists ' || c.words else v.version end as observed,
    'a version without a listed defect' as expected,
    case
        when is_of_other_vendor(n.vendor) or is_virtual_function(n.device_id) then false -- a virtual one has its host's firmware
        when v.pci is null and a.rdma and h.target is null then false -- in a pod's namespace, or the second function of a bond
        when n.vendor is not null and n.device_id is not null and v.pci is not null then true
    end as applies,
    case when c.pci is not null then c.is_met when firmware_number(v.version) is not null then false end as fault,
    n.inferred,
    case c.grade when 1 then 'high' when 2 then 'medium' else 'low' end as severity
from nic_scope as n
left join versions as v on v.target = n.target and v.pci = n.pci
left join answered as a on a.target = n.target
left join homeless as h on h.target = n.target
left join cards as c on c.target = n.target and c.pci = n.pci
