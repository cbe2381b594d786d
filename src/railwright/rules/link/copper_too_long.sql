/* +++
id = "copper-too-long"
aliases = ["LNK-10"]
title = "Passive copper cable too long"
severity = "medium"
subject = "port"
needs = [
  "port_scope.role", "port_scope.state", "mlxlink_port.cable_type", "mlxlink_port.length_m", "mlxlink_port.speed_gbps",
  "mlxlink_port.width",
]
message = "{subject} has {observed}; the reach at this rate is {expected}"
action = "replace"
preview = true
cost = "40 % of all-reduce bandwidth with passive copper longer than 5 m on NDR (incident I-076)"
since = "0.2"
sources = [
  "review LNK-10", "incident I-076",
  "https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview: 3 m at 100G per lane",
  "judgement: 5 m at 25G and 3 m at 50G per lane, as cables are sold",
]

[uses]
"port_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.virtualization" = "a guest's virtual function has no cable"
"port_scope.netdev" = "identifies a bond"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "used for bond members only"
"mlxlink_port.part_number" = {purpose = "words"}

[parameters.reach_edr_m]
default = 5
unit = "m, lanes of up to 28 Gb/s"
reason = "judgement: the longest passive copper sold for EDR and 100GbE"

[parameters.reach_hdr_m]
default = 3
unit = "m, lanes of up to 56 Gb/s"
reason = "judgement: the longest passive copper usual for HDR and 200GbE"

[parameters.reach_ndr_m]
default = 3
unit = "m, lanes of up to 112 Gb/s"
reason = "NVIDIA LinkX 100G-PAM4 overview: passive copper up to 3 m, beyond it active copper"
+++
## Why it matters
Beyond its reach a passive copper cable still links up, but makes errors that FEC can no longer correct, and bandwidth
drops.

## What to do
Replace the cable with active copper or optics of the same rate. The link is down during the swap: drain the host first.

## Exceptions
If `link-ber-high` and `link-went-down` are clean, the cable is good, whatever its length. Check those first, then waive
this finding. Lanes of 200 Gb/s are not checked: no published limit was found. Which part numbers are qualified is site
policy and is not checked.
*/
with cables as (
    select
        l.target,
        l.device,
        l.port,
        m.pci is not null as is_told,
        m.length_m,
        m.part_number,
        -- A length of 0 means that the cable does not report it.
        m.cable_type = 'Passive copper cable' and m.length_m > 0 as is_measured,
        case
            when m.speed_gbps / m.width <= 28 then $reach_edr_m
            when m.speed_gbps / m.width <= 56 then $reach_hdr_m
            when m.speed_gbps / m.width <= 112 then $reach_ndr_m
        end as reach_m
    from port_function as l
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
),

ports as (
    select
        target,
        device,
        port,
        any_known(is_told) as is_told,
        any_known(is_measured) as is_measured,
        any_known(is_measured and length_m > reach_m) as fault,
        max(length_m) as length_m,
        min(reach_m) as reach_m,
        string_agg(distinct part_number, ', ' order by part_number) as part_numbers
    from cables
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    printf('%g m of passive copper', c.length_m) as observed,
    printf('%d m', c.reach_m) as expected,
    not is_of_other_vendor(p.vendor) and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and (c.is_told or p.virtualization <> 'guest')
        and c.is_measured as applies,
    c.fault,
    c.part_numbers as detail,
    p.inferred
from port_scope as p
left join ports as c on c.target = p.target and c.device = p.device and c.port = p.port
