/* +++
id = "optical-power-out-of-range"
aliases = ["N-25"]
title = "Optical power or bias current out of range"
severity = "medium"
subject = "port"
needs = [
  "port_scope.role", "port_scope.state", "mlxlink_port.width", "mlxlink_lane.rx_power_dbm", "mlxlink_lane.rx_power_low_dbm",
  "mlxlink_lane.tx_power_dbm", "mlxlink_lane.tx_power_low_dbm", "mlxlink_lane.bias_ma", "mlxlink_lane.bias_low_ma",
  "mlxlink_lane.bias_high_ma",
]
message = "{subject} has {observed}"
action = "reseat"
preview = true
since = "0.2"
sources = ["review N-25", "SICHEK: power of each lane against the alarms of the module", "reference B2"]

[unless]
"mlxlink_lane.rx_power_low_dbm" = "NULL means a module without limits, which measures nothing"

[uses]
"port_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.virtualization" = "a guest's virtual function has no module"
"port_scope.netdev" = "identifies a bond"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "used for bond members only"

[parameters.margin_db]
default = 0.0
unit = "dB above the module's lower limit"
reason = "review N-25: below the limit is a fault; 1 dB would warn earlier"
+++
## Why it matters
Low optical power means a dirty fibre end, a bent fibre or a dying laser. The link is still up: this is the time to act.

## What to do
Drain the host first: the link is down during the work. Low receive power on all lanes: inspect and clean both ends, and
look for a bent fibre. Low receive power on one lane: suspect the far module or one fibre of the trunk. Low transmit power,
or a bias current outside its limits: replace this module.

## Exceptions
Some modules have nonsense limits: a lower limit above the upper one has been seen. If `link-ber-high` and
`fec-uncorrectable` are clean, the link still works: waive the finding. Copper, and modules that measure nothing, are not
checked.
*/
-- A module prints all its lanes, also those that the link does not use.
with modules as (
    select
        m.target,
        m.pci,
        case when m.width is not null then count(v.rx_power_low_dbm) > 0 end as is_measured,
        case
            when count(v.lane) = m.width
                then any_known(
                    v.rx_power_dbm < v.rx_power_low_dbm + $margin_db or v.tx_power_dbm < v.tx_power_low_dbm + $margin_db
                    or v.bias_ma < v.bias_low_ma or v.bias_ma > v.bias_high_ma
                )
        end as fault,
        min(v.rx_power_dbm) as rx_dbm,
        min(v.tx_power_dbm) as tx_dbm,
        min(v.bias_ma) as least_ma,
        max(v.bias_ma) as most_ma
    from mlxlink_port as m
    left join mlxlink_lane as v on v.target = m.target and v.pci = m.pci and v.lane <= m.width
    group by m.target, m.pci, m.width
),

ports as (
    select
        l.target,
        l.device,
        l.port,
        any_known(m.pci is not null) as is_told,
        any_known(m.is_measured) as is_measured,
        any_known(m.is_measured and m.fault) as fault,
        string_agg(printf('RX power %.1f dBm, TX power %.1f dBm, bias current %.1f to %.1f mA', m.rx_dbm, m.tx_dbm, m.least_ma, m.most_ma), '; ')
            filter (m.fault) as words
    from port_function as l
    left join modules as m on m.target = l.target and m.pci = l.pci
    group by l.target, l.device, l.port
)

select
    p.target,
    p.device,
    p.port,
    o.words as observed,
    'all lanes within the module''s own limits' as expected,
    not is_of_other_vendor(p.vendor) and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and (o.is_told or p.virtualization <> 'guest')
        and o.is_measured as applies,
    o.fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join ports as o on o.target = p.target and o.device = p.device and o.port = p.port
