/* +++
id = "module-hot"
aliases = ["THM-01"]
title = "Module temperature too high"
severity = "high"
subject = "port"
needs = ["port_scope.role"]
message = "The module of {subject} has {observed}; its limit is {expected}"
action = "reseat"
since = "0.2"
sources = [
  "review THM-01", "incident I-152, I-153",
  "judgement: where only mlxlink answers, its limit is the module's alarm, not its warning",
  "judgement: a raised alarm counts; modules keep it until it is read (SFF-8636, CMIS)",
]

[uses]
"port_scope.vendor" = "not all cards of other vendors let ethtool read their modules"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.netdev" = "finds the port's ethtool output; '' in a pod"
"port_scope.virtualization" = "a guest's virtual function has no module"
"port_scope.inferred" = {purpose = "severity"}
"probe_result.status" = "distinguishes a port that mlxlink reports nothing about from one that was not read"
"netdev.pci" = "used for bond members only"
"transceiver.temperature_c" = "either tool can report it"
"transceiver.voltage_v" = "0 beside a temperature of 0: no sensor"
"transceiver.technology" = "identifies copper, which has no sensor"
"transceiver.temperature_high_warning_c" = "a module may have no limits"
"transceiver.alarms" = "not every module has flags"
"mlxlink_port.temperature_c" = "either tool can report it"
"mlxlink_port.temperature_high_c" = "a module may have no limits"
"mlxlink_port.monitored" = "either tool can report it"

[grades]
high = "above the module's own limit, or above limit_c if it has none"
medium = "a module without a limit of its own, between warning_c and limit_c"

[parameters.warning_c]
default = 70.0
unit = "C, for modules without a limit of their own"
reason = "review THM-01: a warning from 70 C on"

[parameters.limit_c]
default = 80.0
unit = "C, for modules without a limit of their own"
reason = "incident I-152: modules switch themselves off at about 80 C"

[parameters.most_apart_c]
default = 5.0
unit = "C between the readings of ethtool and mlxlink"
reason = "incident I-153: one bad reading of 120 C; two readings that agree are not a bad reading"

[parameters.believed_c]
default = 105.0
unit = "C"
reason = "judgement: modules switch themselves off at about 80 C (incident I-152), and a bad reading was 120 C (I-153)"
+++
## Why it matters
A module above its limit makes errors and ages. At about 80 C it switches itself off, which looks like a pulled cable.

## What to do
Check the cooling: dust, fan speed, blanking plates, neighbors with high power, modules with flat tops where finned ones
belong. Compare with the same slot of other hosts. You do not have to take anything down to check.

## Exceptions
Some modules have nonsense limits: limits outside 40 to 100 C are ignored. If a reading is impossible (above 105 C), or if
ethtool and mlxlink differ, the check is inconclusive unless the module raises its alarm. The alarm covers any moment since
it was last read, so the module may be cool again. Copper has no sensor. One snapshot is enough.
*/
with modules as (
    select
        l.target,
        l.device,
        l.port,
        -- In a pod's namespace only mlxlink could report it, if it is installed.
        case
            when t.netdev is not null or m.pci is not null then true
            when l.netdev <> '' or q.status in ('ok', 'absent') then false
        end as is_told,
        case
            when t.temperature_c <> 0 or t.voltage_v <> 0 then true
            when m.monitored is not null then m.monitored
            when t.temperature_c = 0 and t.voltage_v = 0 then false
            when t.technology ilike '%copper%' then false
        end as has_sensor,
        case when t.temperature_c is not null then t.temperature_c else m.temperature_c end as now_c,
        case
            when t.temperature_high_warning_c between 40 and 100 then t.temperature_high_warning_c
            when m.temperature_high_c between 40 and 100 then m.temperature_high_c
            else $warning_c
        end as limit_c,
        t.alarms like '%temperature high%' as is_alarmed,
        case
            when t.temperature_high_warning_c between 40 and 100 or m.temperature_high_c between 40 and 100 then true
            else is_alarmed is true or now_c >= $limit_c
        end as is_grave,
        case
            when abs(t.temperature_c - m.temperature_c) > $most_apart_c then 'readings_differ'
            when now_c > $believed_c or now_c <= 0 then 'implausible'
        end as why_open,
        case
            when is_alarmed then true
            when now_c <= 0 then null -- no module of a running machine is that cold: nothing was measured
            when now_c < limit_c and (m.temperature_c is null or m.temperature_c < limit_c) then false
            when why_open is not null then null
            else now_c >= limit_c
        end as is_hot
    from port_function as l
    left join transceiver as t on t.target = l.target and t.netdev = l.netdev
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
    left join probe_result as q on q.target = l.target and q.probe = 'mlxlink' and q.instance = l.pci
),

ports as (
    select
        target,
        device,
        port,
        any_known(is_told) as is_told,
        any_known(has_sensor) as has_sensor,
        any_known(has_sensor and is_hot) as fault,
        any_known(has_sensor and is_hot and is_grave) as is_grave,
        bool_or(is_alarmed) as is_alarmed, -- null: not every module has flags
        min(why_open) as why_open, -- null: the readings of most can be believed
        max(now_c) as now_c,
        min(limit_c) as limit_c
    from modules
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    printf('a temperature of %.0f C', t.now_c) || case when t.is_alarmed then ' and a raised alarm' else '' end as observed,
    printf('%.0f C', t.limit_c) as expected,
    (t.is_told is true or not is_of_other_vendor(p.vendor)) and p.role in ('compute', 'storage') and t.has_sensor and case
        when p.virtualization = 'guest' then t.is_told is true else t.is_told or p.netdev <> ''
    end as applies,
    t.fault,
    p.netdev as detail,
    p.inferred,
    case when t.is_grave is false then 'medium' else 'high' end as severity,
    t.why_open as reason
from port_scope as p
left join ports as t on t.target = p.target and t.device = p.device and t.port = p.port
