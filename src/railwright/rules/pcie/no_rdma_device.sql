/* +++
id = "PCI-07"
title = "A NIC on the PCI bus gives no RDMA and no network device"
severity = "blocker"
subject = "nic"
needs = ["nic_scope.driver"]
message = "{subject} is on the PCI bus and dead: {observed}"
cost = "a whole rail of the node (incident I-103, I-104)"
since = "0.2"
sources = ["review PCI-07", "incident I-103", "incident I-104",
    "Linux Documentation/networking/multi-pf-netdev.rst", "rdma-system(8)"]

[uses]
"rdma_device.pci" = "an RDMA device or a network device is enough to live"
"netdev.pci" = "the same"
"probe_result.status" = "no such device is a fact only where both lists were read"
"nic_scope.netns_mode" = "asked only where a function is silent: in exclusive mode a pod may have its devices"
"nic_parameter.current_code" = "tells the silent half of a Socket Direct pair; not read, a function is one of its own"
"kernel_message.kind" = {purpose = "words"}
"kernel_message.error" = {purpose = "words"}
"kernel_message.pci" = {purpose = "words"}
"host_scope.compute_nics" = "a card that the class misses is no longer a guess"
"port_scope.role" = "the same"
"port_scope.card" = "the same"
+++
## Why it matters
The card sits on the bus, and every list of RDMA devices is one shorter: the driver failed to start it, or tore it down
after a health event. A check that compares with what it finds says that all is well, and the job loses a rail or does not
start.

## What to do
In this order: read the driver's own reason (`dmesg | grep PCI`), reload or rebind the driver, firmware reset
(`mlxfwreset`, which takes down every function and host of the card), cold power cycle, reseat. A function without a
driver may also be blacklisted or unbound.

## When it is wrong
Devices that a pod has (RDMA namespace mode exclusive), that a guest has (vfio-pci) or that a user-space driver has are
left alone, and so is the silent half of a multi-PF pair while its partner lives. Only a card that the node class misses
counts as a blocker: of a silent function nobody can read the role.
*/
with devices as (
    select target, pci from rdma_device
    union all
    select target, pci from netdev
),

alive as (
    select distinct target, pci from devices where pci <> ''
),

-- Both lists were read, and none of their devices hides where it belongs.
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
    case when n.driver = '' then 'no driver is bound' else n.driver || ' is bound and made no device' end as observed,
    'an RDMA or a network device' as expected,
    n.driver in ('', 'mlx5_core', 'mlx4_core')
        and (a.pci is not null or n.driver = '' or (n.netns_mode <> 'exclusive' and l.number is null)) as applies,
    case
        when a.pci is not null then false
        when n.driver = '' or (k.target is not null and h.target is null) then true
    end as fault,
    'the kernel log has its driver fail with error ' || m.error as detail,
    coalesce(s.compute_nics <= coalesce(r.found, 0), true) as inferred -- null: no class, or no compute port was found at all
from nic_scope as n
left join host_scope as s on s.target = n.target
left join alive as a on a.target = n.target and a.pci = n.pci
left join known as k on k.target = n.target
left join homeless as h on h.target = n.target
left join pairs as p on p.target = n.target and p.pci = n.pci
left join living_pairs as l on l.target = p.target and l.number = p.number
left join rails as r on r.target = n.target
left join (
    select target, pci, min(error) as error from kernel_message where kind = 'probe_failed' group by target, pci
) as m on m.target = n.target and m.pci = n.pci
