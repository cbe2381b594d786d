/* +++
id = "firmware-reset-changes-cc"
aliases = ["FWC-10"]
title = "Next firmware reset changes congestion control"
severity = "medium"
subject = "port"
preview = true
needs = [
  "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "port_scope.vendor", "rdma_device.firmware_version",
  "nic_parameter.next_code", "ecn_priority.enabled",
]
message = "{subject}: congestion control of the data priority is {observed} now and {expected} after a reset"
action = "set"
setting = "nic.ecn"
since = "0.2"
sources = [
  "review FWC-10, G-PCC, G-VENDOR",
  "known issue 4394475 (the same firmware as in cc-priorities-not-aligned)",
  "ROCm/mori pull 658",
  "reference B1.1, B3",
]

[uses]
"site.data_priority" = "if it is not set, the data priority is unknown"
"site.programmable_cc" = "congestion control then runs as a program on the card"
"nic_parameter.current_code" = "of USER_PROGRAMMABLE_CC, which older cards do not have"
"port_scope.pci" = "every port has one"
"port_scope.inferred" = {purpose = "severity"}
"probe_result.status" = "distinguishes a driver without this setting from one that was not collected"
+++
## Why it matters
Run-time settings of the driver are lost when the firmware restarts; then the mask in the card's own configuration applies.
If the two differ, the next reset or reboot switches congestion control on or off for RoCE, and the reset is rarely
suspected as the cause.

## What to do
Set both to the same value: `/sys/class/net/NETDEV/ecn/roce_rp/enable/PRIO` and `roce_np`, which take effect at once, and
`mlxconfig -d PCI set ROCE_CC_PRIO_MASK_P1=MASK`, which changes nothing until the next firmware reset.

## Exceptions
If a unit or operator writes the run-time value after every start, the mask never matters for long: waive the finding. On
firmware with known issue 4394475 the settings apply to all priorities, and `cc-priorities-not-aligned` checks them instead.
*/
with runtime as (
    select target, netdev, priority, all_known(enabled) as is_on, any_known(enabled) as is_partly_on
    from ecn_priority
    group by all
),

ports as (
    select
        p.target,
        p.device,
        p.port,
        p.inferred,
        s.data_priority,
        case when t.is_on then 'on' when not t.is_partly_on then 'off' when not t.is_on then 'partly on' end as now,
        case when m.next_code & (1 << s.data_priority) <> 0 then 'on' when m.next_code is not null then 'off' end as later,
        d.firmware_version,
        -- Only the vendor's driver package has this setting; without it only the mask counts.
        e.status = 'absent' as is_without_switch,
        u.current_code = 1 as is_programmable,
        s.data_priority is not null and s.programmable_cc is not true and p.link_layer = 'Ethernet' and p.role = 'compute'
        and p.netdev <> '' and p.vendor = '15b3' as is_in_scope
    from port_scope as p
    cross join site as s
    left join rdma_device as d on d.target = p.target and d.device = p.device
    left join runtime as t on t.target = p.target and t.netdev = p.netdev and t.priority = s.data_priority
    left join probe_result as e on e.target = p.target and e.probe = 'ecn' and e.instance = ''
    left join nic_parameter as u
        on u.target = p.target and u.pci = p.pci and u.name = 'USER_PROGRAMMABLE_CC' and u.port = 0 and u.element = -1
    -- Function 0 of a card drives its port 1, function 1 its port 2.
    left join nic_parameter as m
        on m.target = p.target and m.pci = p.pci and m.name = 'ROCE_CC_PRIO_MASK' and m.element = -1
        and m.port = try_cast(right(p.pci, 1) as integer) + 1
)

select
    target,
    device,
    port,
    now as observed,
    later as expected,
    is_in_scope and is_without_switch is not true and is_programmable is not true
    and case
        when firmware_version is null then null
        when split_part(firmware_version, '.', 1) in ('22', '26', '28', '40')
            then try_cast(split_part(firmware_version, '.', 2) as integer) < 45
        else true
    end as applies,
    now <> later as fault,
    'priority ' || data_priority as detail,
    inferred
from ports
