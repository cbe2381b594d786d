/* +++
id = "nic-without-rdma"
aliases = ["PCI-07"]
title = "NIC on the PCI bus but not working"
severity = "blocker"
subject = "nic"
needs = ["nic_scope.driver"]
message = "{subject} is on the PCI bus and not working: {observed}"
action = "reset"
disturbs = "driver restart"
cost = "a whole rail of the node (incident I-103, I-104)"
since = "0.2"
sources = ["review PCI-07", "incident I-103", "incident I-104",
    "Linux Documentation/networking/multi-pf-netdev.rst", "rdma-system(8)"]

[uses]
"rdma_device.pci" = "an RDMA device or a network device is enough to count as working"
"netdev.pci" = "the same"
"probe_result.status" = "the absence of a device is a fact only if both lists were read"
"nic_scope.netns_mode" = "used only if a function is silent: in exclusive mode a pod may have its devices"
"nic_parameter.current_code" = "identifies the silent half of a Socket Direct pair; if not read, the function counts as independent"
"kernel_message.kind" = {purpose = "words"}
"kernel_message.error" = {purpose = "words"}
"kernel_message.pci" = {purpose = "words"}
"host_scope.compute_nics" = "if the class is missing a card, its role is not a guess"
"port_scope.role" = "the same"
"port_scope.card" = "the same"
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the host's other ports carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
+++
## Why it matters
The card is on the bus, but every list of RDMA devices is one short: the driver failed to start it, or tore it down after a
health event. A check that compares only the devices it finds reports that all is well, and the job loses a rail or does not
start.

## What to do
1. Read the driver's own reason: `dmesg | grep PCI`.
2. Reload or rebind the driver.
3. Reset the firmware (`mlxfwreset`, which takes down every function and host of the card).
4. Do a cold power cycle.
5. Reseat the card.

A function without a driver may also be blacklisted or unbound.

## Exceptions
A network device alone is enough here: `rdma-device-missing` reports an Ethernet card that has no RDMA device. Devices that
belong to a pod (RDMA namespace mode exclusive), to a guest (vfio-pci) or to a user-space driver are not reported. The
silent half of a multi-PF pair is not reported either while its partner works. The role of a silent function cannot be read,
so the finding is a blocker only if the node class is missing a card: name the hosts of the class, because one by `kind`
drops a host that lost an RDMA device.
*/
with devices as (
    select target, pci from rdma_device
    union all
    select target, pci from netdev
),

alive as (
    select distinct target, pci from devices where pci <> ''
),

-- Both lists were read; devices without a PCI address are in homeless.
known as (
    select target
    from probe_result
    where probe in ('infiniband', 'netdev') and status in ('ok', 'absent')
    group by target
    having count(distinct probe) = 2
),

homeless as (
    select distinct target from devices where pci is null
),

pairs as (
    select target, pci, max(current_code) as number
    from nic_parameter
    where name = 'PF_SD_GROUP' and current_code > 0
    group by target, pci
),

living_pairs as (
    select distinct p.target, p.number from pairs as p inner join alive as a on a.target = p.target and a.pci = p.pci
),

rails as (
    select target, count(distinct card) as found from port_scope where role = 'compute' group by target
)

select
    n.target,
    n.pci,
    case when n.driver = '' then 'no driver is bound' else n.driver || ' is bound but created no device' end as observed,
    'an RDMA or network device' as expected,
    n.driver in ('', 'mlx5_core', 'mlx4_core')
        and (a.pci is not null or n.driver = '' or (n.netns_mode <> 'exclusive' and l.number is null)) as applies,
    case
        when a.pci is not null then false
        when n.driver = '' or (k.target is not null and h.target is null) then true
    end as fault,
    'kernel log: driver probe failed with error ' || m.error as detail,
    coalesce(s.compute_nics <= coalesce(r.found, 0), true) as inferred, -- null: no class, or no compute port was found at all
    case when s.compute_nics > coalesce(r.found, 0) then round(o.card_gbps, 1) end as cost_gbps -- null: the same
from nic_scope as n
left join host_scope as s on s.target = n.target
left join alive as a on a.target = n.target and a.pci = n.pci
left join known as k on k.target = n.target
left join homeless as h on h.target = n.target
left join pairs as p on p.target = n.target and p.pci = n.pci
left join living_pairs as l on l.target = p.target and l.number = p.number
left join rails as r on r.target = n.target
left join card_wire as o on o.target = n.target and o.role = 'compute'
left join (
    select target, pci, min(error) as error from kernel_message where kind = 'probe_failed' group by target, pci
) as m on m.target = n.target and m.pci = n.pci
