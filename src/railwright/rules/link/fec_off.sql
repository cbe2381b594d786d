/* +++
id = "fec-off"
aliases = ["LNK-03"]
title = "FEC off on a 100G link"
severity = "medium"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state", "rdma_port.rate_text"]
message = "{subject} runs {observed}; its cable needs {expected}"
action = "set"
setting = "nic.fec"
since = "0.2"
sources = [
  "review LNK-03", "reference B7, B8", "incident I-079",
  "https://docs.nvidia.com/networking/display/cablemanagfaq/frequently+asked+questions+(faq): CA-N copper runs without FEC",
]

[uses]
"port_scope.netdev" = "finds the port's ethtool output; '' in a pod"
"port_scope.pci" = "finds the port's mlxlink output"
"port_scope.virtualization" = "a guest's virtual function reports neither"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "used for bond members only"
"bond_member.mii_status" = "a member that is down has no link to check"
"netdev_link.fec" = "not visible if the netdev is in a pod: mlxlink reports it instead"
"mlxlink_port.fec" = "used if the netdev is not visible"
"mlxlink_port.module_compliance" = "either tool can report it"
"mlxlink_port.cable_type" = "used if the module reports no standard"
"transceiver.transceiver_types" = "either tool can report it"
+++
## Why it matters
Four lanes of 25G over copper or short optics make more errors than RoCE can tolerate; RS(528,514) corrects them. Without it
the link is up but loses packets, or flaps.

## What to do
Set RS-FEC on both link partners in one maintenance window: the link bounces, even if the same value is written again, and
stays down while the two differ. On the
host, run `ethtool --set-fec NETDEV encoding rs` (lost at reboot, so add it to the network configuration). On the switch,
set the FEC of the port. Never do this on the port that carries your own connection.

## Exceptions
LR4 and ER4 optics and CA-N copper are meant to run without FEC and are not reported. InfiniBand selects FEC by itself, and
faster lanes (PAM4) cannot link up without FEC.
*/
with told as (
    select
        l.target,
        l.device,
        l.port,
        m.pci is not null as is_told,
        case
            when l.netdev <> '' then k.fec = 'none'
            when m.fec <> '' then m.fec = 'none'
        end as is_off,
        case when m.module_compliance <> '' then m.module_compliance else t.transceiver_types end as standard,
        case
            when standard like '%without FEC%' then false
            when regexp_matches(standard, 'CR4|SR4|CWDM4') then true
            when standard <> '' then false
            when m.cable_type = 'Passive copper cable' then true
        end as needs_fec
    from port_function as l
    left join mlxlink_port as m on m.target = l.target and m.pci = l.pci
    left join netdev_link as k on k.target = l.target and k.netdev = l.netdev
    left join transceiver as t on t.target = l.target and t.netdev = l.netdev
    where l.is_down is not true
),

ports as (
    select
        target,
        device,
        port,
        any_known(is_told) as is_told,
        any_known(needs_fec) as needs_fec,
        any_known(needs_fec and is_off) as fault,
        string_agg(distinct standard, ', ' order by standard) as standard
    from told
    group by target, device, port
)

select
    p.target,
    p.device,
    p.port,
    r.rate_text || ' without FEC' as observed,
    'RS-FEC' as expected,
    -- 4X EDR is how sysfs writes four lanes of 25G, also for Ethernet.
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.state = 'ACTIVE' and r.rate_text like '%(4X EDR)'
        and (f.is_told or (p.netdev <> '' and p.virtualization <> 'guest')) and f.needs_fec as applies,
    f.fault,
    f.standard as detail,
    p.inferred
from port_scope as p
left join rdma_port as r on r.target = p.target and r.device = p.device and r.port = p.port
left join ports as f on f.target = p.target and f.device = p.device and f.port = p.port
