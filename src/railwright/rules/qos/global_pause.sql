/* +++
id = "QOS-04"
title = "Link-level pause is on beside PFC"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_pause.autonegotiate", "netdev_pause.rx", "netdev_pause.tx",
]
message = "{subject} has link-level pause on for {observed}, it should be {expected}"
setting = "netdev.pause"
cost = "21.7 % of a 400G port, with all drop counters at zero (incident I-062)"
since = "0.2"
sources = ["review QOS-04", "reference B3", "incident I-062"]

[uses]
"site.fabric_mode" = "where it says lossless, PFC need not be seen"
"netdev_qos.pfc_mask" = "asked where no profile says that the fabric is lossless"
"netdev_pause.rx_negotiated" = "only where pause is negotiated"
"netdev_pause.tx_negotiated" = "only where pause is negotiated"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Link-level pause (802.3x) stops the whole port, also the classes that PFC was to keep going: one slow receiver slows
everything behind the same link, and no drop counter shows it.

## What to do
`ethtool -A NETDEV rx off tx off`, and the same at the switch port. The link stays up. On is the card's default at power-on,
so let a boot unit or the network configuration do it.

## When it is wrong
Pause is fine on storage and management ports and back to back, which are not judged, and on a port that has no PFC while no
profile says that the fabric is lossless. On a bond neither pause nor PFC can be read: such a port is unknown.
*/
-- Where pause is negotiated, rx and tx are only what the port would like.
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
