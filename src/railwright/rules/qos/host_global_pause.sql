/* +++
id = "host-global-pause"
aliases = ["QOS-04"]
title = "Global pause on beside PFC (host)"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_pause.autonegotiate", "netdev_pause.rx", "netdev_pause.tx",
]
message = "{subject} has global pause on for {observed}; expected {expected}"
action = "set"
setting = "netdev.pause"
fix = "ethtool -A NETDEV autoneg off rx off tx off"
cost = "21.7 % of a 400G port, with all drop counters at zero (incident I-062)"
on_path = {packets = ["data"], sides = ["in", "out"]}
since = "0.2"
sources = ["review QOS-04", "reference B3", "incident I-062"]

[uses]
"site.fabric_mode" = "if it is lossless, the rule applies even if no PFC is seen"
"netdev_qos.pfc_mask" = "read only if no profile says that the fabric is lossless"
"netdev_pause.rx_negotiated" = "read only if pause is autonegotiated"
"netdev_pause.tx_negotiated" = "read only if pause is autonegotiated"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Link-level pause (802.3x) stops the whole port, including the classes that PFC should keep running: one slow receiver
slows everything behind the same link, and no drop counter shows it.

## What to do
Run `ethtool -A NETDEV autoneg off rx off tx off` (mlx5 refuses to autonegotiate pause), and turn pause off on the switch
port too. The link stays up. Pause is on by default when the card powers on, so make it persistent: with a boot unit, with
`RxFlowControl=no`, `TxFlowControl=no` and `AutoNegotiationFlowControl=no` in a systemd `.link` file, or with
`FLOW_CONTROL_P1` in firmware if the card has it.

## Exceptions
Pause is fine on storage and management ports and on back-to-back links, which are not checked. It is also fine on a port
without PFC if no profile says that the fabric is lossless. On a bond, the members are checked: one member with pause on
is enough for a finding.
*/
-- If pause is autonegotiated, rx and tx are only what the port requests.
with pause as (
    select
        target,
        netdev,
        case when autonegotiate then rx_negotiated when not autonegotiate then rx end as rx,
        case when autonegotiate then tx_negotiated when not autonegotiate then tx end as tx
    from netdev_pause
)

select
    p.target,
    p.device,
    p.port,
    concat_ws(' and ', case when a.rx then 'rx' end, case when a.tx then 'tx' end) as observed,
    'off' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
    and (s.fabric_mode is not null and s.fabric_mode in ('lossless', 'pfc-only', 'spectrum-x') or p.pfc_mask <> 0) as applies,
    a.rx or a.tx as fault,
    p.netdev as detail,
    p.inferred
from port_qos as p
cross join site as s
left join pause as a on a.target = p.target and a.netdev = p.netdev
