/* +++
id = "intent-dcbx-owner"
aliases = ["INTENT.dcbx_owner"]
title = "DCBX owner does not match intent"
severity = "medium"
subject = "port"
several = true
needs = [
  "port_scope.netdev", "port_scope.link_layer", "port_scope.role",
  "netdev_qos.dcbx_mode", "netdev_qos.lldpad_running", "nic_parameter.current_code",
]
message = "{subject}: QoS can be set by {observed}; intent is {expected}"
action = "set"
setting = "nic.dcbx"
covers = ["N-01"]
since = "0.2"
sources = ["review N-01, QOS-02", "reference B1.1, B3"]

[uses]
"site.dcbx_owner" = "not checked unless the site file sets it"
"port_scope.pci" = "read only if the site file gives QoS to the host"
"probe_result.status" = "distinguishes a card without the parameter from one that was not queried"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
DCBX applies what the LLDP neighbor advertises. Willing firmware, or a running lldpad, overwrites the PFC and priority
settings of the host at the next link-up or at the next message from the switch.

## What to do
1. Run `mlnx_qos -i NETDEV -d os` to give DCBX to the host (`-d fw` to give it to the firmware).
2. Stop and disable lldpad.
3. Set `LLDP_NB_DCBX_P1=0` or `DCBX_WILLING_P1=0` in firmware. It takes effect at the next firmware reset, which takes
   down every function of the card.
4. Check PFC again. Setting it bounces the link.

## Exceptions
If the switches configure the NICs by design, set `dcbx_owner = "firmware"` in the site file. A NIC controlled by the host
is then the fault. The parameters of all ports of a card count for each of its ports. On a bond, the members are checked:
one wrong member is enough for a finding.
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
        case when k.obeys then 'willing firmware (LLDP_NB_DCBX, DCBX_WILLING)' end
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
