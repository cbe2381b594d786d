/* +++
id = "link-ber-high"
aliases = ["LNK-04"]
title = "Bit error rate too high"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state", "mlxlink_port.since_clear_min"]
message = "{subject} has {observed}; expected {expected}"
action = "reseat"
implied_by = ["module-hot"]
since = "0.2"
sources = [
  "review LNK-04", "Mellanox/ufm_sdk_3.0 plugins/pdr_deterministic_plugin/README.md (symbol BER over 125 min)",
  "oracle-quickstart/oci-hpc check_gpu_setup.py (Bad signal integrity)", "reference B2",
  "judgement: on Ethernet the effective BER stands for the symbol BER, which is not printed there",
]

[uses]
"port_scope.vendor" = "does not apply to cards of other vendors, or is not collected from them"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.virtualization" = "a guest's virtual function has no physical link"
"port_scope.netdev" = "identifies a bond"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "used for bond members only"
"bond_member.mii_status" = "a member that is down has no link to check"
"mlxlink_port.symbol_ber" = "InfiniBand only"
"mlxlink_port.effective_ber" = "used on Ethernet only"
"mlxlink_port.fec" = "used on Ethernet only"
"mlxlink_port.raw_ber" = "counts only if the firmware reports bad signal integrity"
"mlxlink_port.recommendation" = "counts only if the raw error rate is high"

[parameters.settled_min]
default = 125
unit = "min since the counters were cleared"
reason = "review LNK-04: checked earlier, errors of link training would count; PDR's longer window"

[parameters.most_errors]
default = 1e-15
unit = "errors per bit, after correction"
reason = "review LNK-04 (PDR): over 125 min or more; at 400G that is three errors"

[parameters.most_raw_errors]
default = 1e-5
unit = "errors per bit, before correction"
reason = "review LNK-04: below it PAM4 lanes are healthy; only together with the firmware's diagnosis"
+++
## Why it matters
Errors that FEC cannot correct are lost packets. The packets are retransmitted, and one such link slows every collective
that crosses it. A high error rate is also an early sign of flapping.

## What to do
1. Drain the host: each step takes the link down.
2. Inspect and clean the fibre ends.
3. Reseat.
4. Swap the cable or module.
5. Swap one port at a time. Swapping both ends at once destroys the evidence.
6. Clear the counters (`mlxlink -d PCI --pc`) and check again after two hours.

## Exceptions
The rate is the mean since the last clear, so a fault that is over still shows: clear the counters and check again. The
limits are published for NDR InfiniBand and are applied to Ethernet as well. A high raw error rate alone is not a fault on
PAM4. Cards of other vendors are not checked: `mlxlink` reads NVIDIA cards only.
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
    printf('a BER of %.0e after FEC', t.errors)
        || case when t.raw_ber > 0 then printf(' and bad signal integrity (raw BER %.0e)', t.raw_ber) else '' end as observed,
    printf('%.0e or less', $most_errors) as expected,
    not is_of_other_vendor(p.vendor) and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and (t.is_told or p.virtualization <> 'guest')
        and t.is_corrected as applies,
    t.fault,
    printf('counted over %.0f min', t.since_clear_min) as detail,
    p.inferred
from port_scope as p
left join ports as t on t.target = p.target and t.device = p.device and t.port = p.port
