/* +++
id = "LNK-03"
title = "100G link without error correction"
severity = "medium"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.state", "rdma_port.rate_text"]
message = "{subject} runs {observed}, its cable needs {expected}"
since = "0.2"
sources = [
  "review LNK-03", "reference B7, B8", "incident I-079",
  "https://docs.nvidia.com/networking/display/cablemanagfaq/frequently+asked+questions+(faq): CA-N copper runs without FEC",
]

[uses]
"port_scope.netdev" = "ethtool is asked by it; '' in a pod"
"port_scope.pci" = "mlxlink is asked by it"
"port_scope.virtualization" = "a guest's virtual function shows neither"
"port_scope.inferred" = {purpose = "severity"}
"netdev.pci" = "asked for the members of a bond"
"bond_member.mii_status" = "a member that is down has no link to judge"
"netdev_link.fec" = "a pod's netdev is not here: mlxlink tells"
"mlxlink_port.fec" = "asked where the netdev is not here"
"mlxlink_port.module_compliance" = "either tool tells"
"mlxlink_port.cable_type" = "asked where the module names no standard"
"transceiver.transceiver_types" = "either tool tells"
+++
## Why it matters
Four lanes of 25G over copper or short optics make more errors than RoCE can bear; RS(528,514) repairs them. Without it the
link is up and loses packets, or flaps.

## What to do
Set RS-FEC on both ends in one window: the link bounces, and stays down while the ends differ. On the host
`ethtool --set-fec NETDEV encoding rs` (lost at reboot, so into the network configuration), on the switch its port's FEC.
Never on the port that carries your own connection.

## When it is wrong
LR4 and ER4 optics and CA-N copper are meant to run without: they are left alone. InfiniBand chooses by itself, and faster
lanes (PAM4) cannot link without error correction.
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
    r.rate_text || ' without error correction' as observed,
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
