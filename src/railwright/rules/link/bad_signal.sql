/* +++
id = "LNK-04"
title = "Errors that error correction does not repair"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state", "mlxlink_port.since_clear_min"]
message = "{subject} has {observed}, expected {expected}"
implied_by = ["THM-01"]
since = "0.2"
sources = [
  "review LNK-04", "Mellanox/ufm_sdk_3.0 plugins/pdr_deterministic_plugin/README.md (symbol BER over 125 min)",
  "oracle-quickstart/oci-hpc check_gpu_setup.py (Bad signal integrity)", "reference B2",
  "judgement: on Ethernet the effective BER stands for the symbol BER, which is not printed there",
]

[uses]
"port_scope.vendor" = "a card of another vendor has no such thing, or none that is read"
"port_scope.pci" = "mlxlink is asked by it"
"port_scope.virtualization" = "a guest's virtual function has no physical link"
"port_scope.netdev" = "tells a bond"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "asked for the members of a bond"
"bond_member.mii_status" = "a member that is down has no link to judge"
"mlxlink_port.symbol_ber" = "InfiniBand only"
"mlxlink_port.effective_ber" = "asked on Ethernet only"
"mlxlink_port.fec" = "asked on Ethernet only"
"mlxlink_port.raw_ber" = "counts only where the firmware speaks of bad signal integrity"
"mlxlink_port.recommendation" = "counts only where the raw error rate is high"

[parameters.settled_min]
default = 125
unit = "min since the counters were cleared"
reason = "review LNK-04: judged earlier, errors of link training count; PDR's longer window"

[parameters.most_errors]
default = 1e-15
unit = "errors per bit, after correction"
reason = "review LNK-04 (PDR): over 125 min or more; at 400G that is three errors"

[parameters.most_raw_errors]
default = 1e-5
unit = "errors per bit, before correction"
reason = "review LNK-04: below it PAM4 lanes are in order; only together with the firmware's diagnosis"
+++
## Why it matters
What error correction cannot repair is lost: packets are sent anew, and one such link slows every collective that crosses
it. It is also how a link announces that it will flap.

## What to do
In this order: inspect and clean the fibre ends, reseat, swap the cable or module, then one port at a time; swapping both
ends at once destroys the evidence. Each step takes the link down: drain the host. Then clear the counters
(`mlxlink -d PCI --pc`) and judge again after two hours.

## When it is wrong
The rate is the mean since the last clear, and a fault that is over stays in it: clear and look again. The limits are
published for NDR InfiniBand; on Ethernet they are taken over. A high raw error rate alone is no fault on PAM4.
*/
with told as (
    select
        l.target,
        l.device,
        l.port,
        m.pci is not null as is_told,
        -- Without error correction the effective rate is the raw one.
        case
            when l.link_layer = 'InfiniBand' then m.symbol_ber
            when l.link_layer = 'Ethernet' and m.fec <> 'none' then m.effective_ber
        end as errors,
        l.link_layer = 'InfiniBand' or m.fec <> 'none' as is_corrected,
        m.recommendation ilike '%bad signal integrity%' and m.raw_ber > $most_raw_errors as is_bad_signal,
        m.raw_ber,
        m.since_clear_min
    from port_function as l
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
    where l.is_down is not true
),

ports as (
    select
        target,
        device,
        port,
        any_known(is_told) as is_told,
        any_known(is_corrected) as is_corrected,
        any_known(is_corrected and case when since_clear_min >= $settled_min then errors > $most_errors or is_bad_signal end)
            as fault,
        max(errors) as errors,
        max(raw_ber) filter (is_bad_signal) as raw_ber,
        min(since_clear_min) as since_clear_min
    from told
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    printf('%.0e errors per bit after correction', t.errors)
        || case when t.raw_ber > 0 then printf(', bad signal integrity with %.0e before it', t.raw_ber) else '' end as observed,
    printf('%.0e or less', $most_errors) as expected,
    not is_of_other_vendor(p.vendor) and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and (t.is_told or p.virtualization <> 'guest')
        and t.is_corrected as applies,
    t.fault,
    printf('counted for %.0f min', t.since_clear_min) as detail,
    p.inferred
from port_scope as p
left join ports as t on t.target = p.target and t.device = p.device and t.port = p.port
