/* +++
id = "INTENT.dcbx_owner"
title = "Somebody else than the site says can set QoS on a NIC"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dcbx_mode", "netdev_qos.lldpad_running", "nic_parameter.current_code",
]
message = "{subject}: QoS can be set by {observed}, the site leaves it to {expected}"
setting = "nic.dcbx"
covers = ["N-01"]
since = "0.2"
sources = ["review N-01, QOS-02", "reference B1.1, B3"]

[uses]
"site.dcbx_owner" = "nothing is wanted where the site says nothing"
"port_scope.pci" = "asked where the site leaves QoS to the host"
"probe_result.status" = "tells a card without the parameter from one that was not asked"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
DCBX takes over what the neighbour advertises. Firmware that is willing, or an lldpad that runs, overwrites PFC and priorities
that the host has set, at the next link-up or at the next message of the switch.

## What to do
`mlnx_qos -i NETDEV -d os` gives DCBX to the host (`-d fw` to the firmware). Stop and disable lldpad. In firmware set
`LLDP_NB_DCBX_P1=0` or `DCBX_WILLING_P1=0`, in force from the next firmware reset on, which takes down every function of the
card. Then check PFC again: setting it bounces the link.

## When it is wrong
Sites that let switches set the NICs say `dcbx_owner = "firmware"`: then a NIC in the hands of the host is the fault. The
parameters of all ports of a card count for each of them. The QoS of a bond is that of its members: one that is wrong is
enough.
*/
with parameter as (
    select
        target,
        pci,
        port,
        max(current_code) filter (name = 'LLDP_NB_DCBX') = 1 as is_spoken,
        max(current_code) filter (name = 'DCBX_WILLING') = 1 as is_willing
    from nic_parameter
    where name in ('LLDP_NB_DCBX', 'DCBX_WILLING')
    group by target, pci, port
),

firmware as (
    select target, pci, any_known(is_spoken and is_willing) as obeys
    from parameter
    group by target, pci
),

-- A card that answered and has no such parameter cannot do it.
known as (
    select p.*, case when f.pci is not null then f.obeys when r.status = 'ok' then false end as obeys
    from port_qos as p
    left join firmware as f on f.target = p.target and f.pci = p.pci
    left join probe_result as r on r.target = p.target and r.probe = 'mlxconfig' and r.instance = p.pci
)

select
    k.target,
    k.device,
    k.port,
    concat_ws(
        ', ',
        case k.dcbx_mode when 'Firmware' then 'firmware' when 'OS' then 'host' end,
        case when k.lldpad_running then 'lldpad' end,
        case when k.obeys then 'firmware that is willing (LLDP_NB_DCBX, DCBX_WILLING)' end
    ) as observed,
    s.dcbx_owner as expected,
    s.dcbx_owner is not null and k.link_layer = 'Ethernet' and k.role = 'compute' and k.netdev <> '' as applies,
    case s.dcbx_owner
        when 'host' then k.dcbx_mode = 'Firmware' or k.lldpad_running or k.obeys
        when 'firmware' then k.dcbx_mode <> 'Firmware'
    end as fault,
    k.netdev as detail,
    k.inferred
from known as k
cross join site as s
