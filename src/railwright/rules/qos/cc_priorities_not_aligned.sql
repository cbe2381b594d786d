/* +++
id = "cc-priorities-not-aligned"
aliases = ["N-02"]
title = "Congestion control not on for all priorities"
severity = "high"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "rdma_device.firmware_version", "ecn_priority.enabled",
]
message = "{subject} has {observed}; this firmware needs {expected}"
action = "set"
setting = "nic.ecn"
since = "0.2"
sources = [
  "review N-02",
  "docs.nvidia.com: known issue 4394475 of ConnectX-6 Dx 22.46.3048, ConnectX-6 Lx 26.48.1000",
  "docs.nvidia.com: known issue 4394475 of ConnectX-7 28.46.3048, ConnectX-8 40.46.1006",
]

[uses]
"nic_parameter.current_code" = "if the firmware mask was not collected, the driver's settings decide"
"port_scope.pci" = "needed for the firmware mask"
"netdev.port_name" = "needed for the firmware mask: which of the card's ports this is"
"port_scope.inferred" = {purpose = "severity"}

[parameters.first_minor]
default = 45
unit = "second number of the firmware version"
reason = "the known issue was detected in 22.45.1020, 26.45.1020 and 28.45.1020, and 26.48.1000 still lists it"
+++
## Why it matters
From firmware 45 on, congestion control is one setting for the whole port, whatever the eight per-priority settings say
(known issue 4394475). With mixed values it is unknown which one applies: data may run without rate control although its
own setting is on.

## What to do
Set all eight priorities alike: on as shown here, or off with 0 for all eight and 0 as the mask.
1. Run `echo 1 > /sys/class/net/NETDEV/ecn/roce_rp/enable/N` for N from 0 to 7. It takes effect immediately.
2. Run `mlxconfig -d PCI set ROCE_CC_PRIO_MASK_P1=255`. It takes effect at the next firmware reset, which takes down every
   function of the card.

## Exceptions
BlueField-3 is not checked: no page that was read lists it. A card on which a program controls congestion
(`USER_PROGRAMMABLE_CC`) is checked like any other: the settings may not apply there, so waive the finding. No release note
that was read says that the issue is fixed; waive the rule for firmware whose notes do. Only the vendor's driver package
exposes the settings: with the in-kernel driver the check is inconclusive. On a bond, the members are checked: one wrong
member is enough for a finding.
*/
with switches as (
    select
        target,
        netdev,
        -- Two that differ are enough; they are alike only if all eight were read.
        case when min(enabled) <> max(enabled) then true when count(enabled) = 8 then false end as is_mixed,
        string_agg(priority, ',' order by priority) filter (enabled) as enabled
    from ecn_priority
    where role = 'rp'
    group by target, netdev
),

firmware as (
    select target, pci, port, current_code, max(port) over (partition by target, pci) as ports
    from nic_parameter
    where name = 'ROCE_CC_PRIO_MASK'
),

version as (
    select
        target,
        device,
        firmware_version,
        firmware_version <> '' and try_cast(split_part(firmware_version, '.', 1) as integer) in (22, 26, 28, 40)
        and try_cast(split_part(firmware_version, '.', 2) as integer) >= $first_minor as is_affected
    from rdma_device
)

select
    p.target,
    p.device,
    p.port,
    'the reaction point on for priorities ' || case when e.enabled <> '' then e.enabled else 'none' end
    || case when f.current_code is not null then ', firmware mask ' || f.current_code else '' end as observed,
    'the same setting for all eight' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and v.is_affected as applies,
    e.is_mixed or (f.current_code is not null and f.current_code > 0 and f.current_code < 255) as fault,
    p.netdev || ', firmware ' || v.firmware_version as detail,
    p.inferred
from port_link as p
left join version as v on v.target = p.target and v.device = p.device
left join switches as e on e.target = p.target and e.netdev = p.netdev
left join netdev as n on n.target = p.target and n.name = p.netdev
-- A card's functions all show the parameters of all its ports.
left join firmware as f
    on f.target = p.target and f.pci = p.pci
    and (f.ports = 1 or f.port = try_cast(regexp_extract(n.port_name, '^p([0-9]+)', 1) as integer) + 1)
