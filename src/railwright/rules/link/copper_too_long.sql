/* +++
id = "LNK-10"
title = "Passive copper beyond its reach"
severity = "medium"
subject = "port"
needs = [
  "port_scope.role", "port_scope.state", "mlxlink_port.cable_type", "mlxlink_port.length_m", "mlxlink_port.speed_gbps",
  "mlxlink_port.width",
]
message = "{subject} runs {observed}, {expected} is the reach at this rate"
preview = true
cost = "40 % of all-reduce bandwidth, passive copper above 5 m on NDR (incident I-076)"
since = "0.2"
sources = [
  "review LNK-10", "incident I-076",
  "https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview: 3 m at 100G per lane",
  "judgement: 5 m at 25G and 3 m at 50G per lane, as cables are sold",
]

[uses]
"port_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"port_scope.pci" = "mlxlink is asked by it"
"port_scope.virtualization" = "a guest's virtual function has no cable"
"port_scope.netdev" = "tells a bond"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "asked for the members of a bond"
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
Beyond its reach passive copper links up and makes errors that correction no longer repairs; bandwidth goes with them.

## What to do
Replace it by active copper or optics of the same rate. The link is down meanwhile: drain the host.

## When it is wrong
A cable that is good by LNK-04 and LNK-05 is good, whatever its length: look there first. Lanes of 200 Gb/s are not
judged: no published limit is known here. Which part numbers are qualified is the site's policy and not asked.
*/
with cables as (
    select
        l.target,
        l.device,
        l.port,
        m.pci is not null as is_told,
        m.length_m,
        m.part_number,
        -- A length of 0 is one that the cable does not tell.
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
    printf('over %g m of passive copper', c.length_m) as observed,
    printf('%d m', c.reach_m) as expected,
    not is_of_other_vendor(p.vendor) and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and (c.is_told or p.virtualization <> 'guest')
        and c.is_measured as applies,
    c.fault,
    c.part_numbers as detail,
    p.inferred
from port_scope as p
left join ports as c on c.target = p.target and c.device = p.device and c.port = p.port
