/* +++
id = "rdma-device-missing"
aliases = ["INV-02"]
title = "NIC function or RDMA device missing"
severity = "high"
subject = "pci_function"
peers = true
needs = ["part_scope.state", "part_scope.is_confirmed", "part_scope.functions"]
message = "{subject} has {observed}; expected {expected}"
action = "ask"
implied_by = ["nic-without-rdma"]
cost = "a rail of the node (incident I-104)"
since = "0.2"
sources = [
  "incident I-104",
  "mlnx-tools and devlink-params documentation of mlx5 (enable_roce, enable_rdma)",
  "rdma-system(8): in exclusive mode a device moves with its network namespace",
  "judgement: severity; the reference is that of part-missing",
]

[unless]
"part_scope.functions" = "no number of functions is expected"

[uses]
"part_scope.rdma_devices" = "used only if a number of them is expected; then inconclusive without it"
"host_scope.netns_mode" = "used only if a card shows no RDMA device: in exclusive mode a pod may have it"
"part_scope.kind" = "NICs only"
"part_scope.pci" = "the subject"
"part_scope.slot" = "the functions of a card"
"part_scope.source" = "what expects it; parts that only some of a class have are left to part-missing"
"part_scope.snapshot" = {purpose = "words"}
"part_scope.members" = {purpose = "words"}
"part_scope.found_part" = "only cards that are there; a BlueField may be the DPU's own"
"part_scope.functions_wanted" = "nothing is expected without a usual number"
"part_scope.rdma_devices_wanted" = "the same"
"part_scope.netdevs_wanted" = "the same"
"part_scope.netdevs" = "a missing network device may be in a pod, which is inconclusive"
"rdma_device.pci" = "whose GIDs they are"
"rdma_device.device" = "the same"
"rdma_port.device" = "the same"
"rdma_port.link_layer" = "the same; on InfiniBand GIDs do not depend on a network device"
"gid.device" = "tells a network device that is in a pod from one that is gone; inconclusive without it"
"part_scope.is_given_away" = "a guest or a program in user space has the devices"
"part_scope.is_driverless" = {purpose = "words"}
"slot.pci" = "the functions of a card"
"slot.slot" = "the same"
"netdev.name" = "which functions are in a bond: the members of a RoCE LAG share one RDMA device"
"netdev.pci" = "the same"
"bond_member.member" = "the same"
"bond_member.bond" = "the same"
"nic_parameter.name" = "whether the DPU owns a BlueField's ports"
"nic_parameter.pci" = "the same"
"nic_parameter.current_code" = "the same"
"kernel_module.name" = {purpose = "words"}
"slot.part" = {purpose = "cost"}
"port_scope.pci" = {purpose = "cost"}
"port_scope.role" = {purpose = "cost"}
"port_scope.link_layer" = {purpose = "cost"}
"port_scope.state" = {purpose = "cost"}
"port_scope.rate_gbps" = {purpose = "cost", why = "what the ports of cards of its type carry"}
"verbs_port.active_mtu" = {purpose = "cost"}
+++
## Why it matters
The card is on the bus and its network devices may be up, but programs find no RDMA device on it: RoCE was turned off for it
(devlink, ROCE_CONTROL), `mlx5_ib` is not loaded or failed for it, or one of its ports is hidden. Libraries skip it
silently, and the job runs on fewer rails, or over TCP.

## What to do
1. Run `rdma link` and `lsmod | grep mlx5_ib`. If the module is not loaded, load it and find out what keeps it from loading
   at boot.
2. Run `devlink dev param show pci/PCI name enable_roce` (and `enable_rdma`): set it to true and reload the device.
3. Run `mlxconfig -d PCI query ROCE_CONTROL NUM_OF_PF` and compare with a host that has all devices.
4. Search the kernel log for `mlx5_ib` or the card's address.

## Exceptions
Devices that are in a pod (RDMA namespace mode exclusive), in a guest (vfio-pci) or owned by the DPU of a BlueField are
inconclusive, not missing. If only a network device is missing, that is fine while the port still has its GIDs (the device
is in a pod), and inconclusive if it has none.
*/
with bonds as (
    select s.target, s.slot, b.bond, count(*) as members
    from slot as s
    inner join netdev as n on n.target = s.target and n.pci = s.pci
    inner join bond_member as b on b.target = n.target and b.member = n.name
    group by s.target, s.slot, b.bond
),

-- Two ports of one card in one bond share an RDMA device; ports of two cards do not.
bonded as (
    select target, slot, sum(members - 1) as shared from bonds group by target, slot -- null: counts
),

-- An Ethernet port that has lost its network device has no GIDs either; one whose network device is in a pod keeps them.
rooted as (
    select s.target, s.slot, count(*) as devices, count(g.device) as with_gids
    from (select distinct target, device from rdma_port where link_layer = 'Ethernet') as p
    inner join rdma_device as d on d.target = p.target and d.device = p.device
    inner join slot as s on s.target = d.target and s.pci = d.pci
    left join (select distinct target, device from gid) as g on g.target = d.target and g.device = d.device
    group by s.target, s.slot
),

-- INTERNAL_CPU_OFFLOAD_ENGINE 0 is ENABLED: the DPU's own system has the ports.
dpu as (
    select distinct n.target, n.pci
    from part_scope as p
    inner join nic_parameter as n on n.target = p.target and n.pci = p.pci
    where
        p.found_part in ('15b3:a2d2', '15b3:a2d6', '15b3:a2dc', '15b3:a2df')
        and n.name = 'INTERNAL_CPU_OFFLOAD_ENGINE' and n.current_code = 0
),

rdma_module as (
    select target, count(*) filter (name = 'mlx5_ib') as loaded from kernel_module group by target
),

cards as (
    select
        p.target,
        p.pci,
        p.state,
        p.source,
        p.snapshot,
        p.members,
        p.is_confirmed,
        p.functions,
        p.functions_wanted,
        p.rdma_devices,
        p.rdma_devices_wanted,
        p.netdevs,
        p.netdevs_wanted,
        p.is_driverless,
        o.port_gbps,
        m.loaded,
        h.netns_mode,
        case
            -- mlx5 makes one device of a bond; others do not.
            when b.shared > 0 and starts_with(p.found_part, '15b3:') and p.rdma_devices_wanted > 1 then at_least(p.rdma_devices_wanted - b.shared, 1)
            else p.rdma_devices_wanted
        end as rdma_least,
        case when p.is_given_away or d.pci is not null or h.netns_mode = 'exclusive' then true when h.netns_mode is null then null else false end
            as may_be_elsewhere,
        case when p.functions_wanted is null then false else p.functions < p.functions_wanted end as lacks_functions,
        case when rdma_least is null then false else p.rdma_devices < rdma_least end as lacks_rdma,
        case
            when r.with_gids >= p.rdma_devices_wanted then false
            -- Independent of the usual number: where pods come and go, none exists.
            when r.with_gids < r.devices and p.netdevs < r.devices then true
            when p.netdevs_wanted is null then false
            else p.netdevs < p.netdevs_wanted
        end as lacks_netdevs
    from part_scope as p
    inner join host_scope as h on h.target = p.target
    left join bonded as b on b.target = p.target and b.slot = p.slot
    left join dpu as d on d.target = p.target and d.pci = p.pci
    left join rdma_module as m on m.target = p.target
    left join rooted as r on r.target = p.target and r.slot = p.slot
    left join part_wire as o on o.target = p.target and o.part = p.found_part
    where p.kind = 'nic' and p.found_part is not null and p.source <> 'split'
    -- Two names of one slot may lead to one card.
    qualify row_number() over (partition by p.target, p.pci order by p.slot, p.rdma_devices_wanted) = 1
)

select
    target,
    pci,
    concat_ws( -- null: only for the words
        ', ',
        functions || ' of ' || functions_wanted || ' functions',
        rdma_devices || ' of ' || rdma_devices_wanted || ' RDMA devices',
        netdevs || ' of ' || netdevs_wanted || ' network devices'
    ) as observed,
    case source
        when 'site' then 'the numbers in the site file'
        when 'earlier' then 'the same as in snapshot ' || snapshot
        else 'the same as on most of the ' || members || ' hosts of its class'
    end as expected,
    case when state in ('dead', 'replaced', 'empty') then false when state is not null then true end as applies,
    case
        when not is_confirmed or is_confirmed is null then null
        when lacks_functions then true
        when lacks_rdma and not may_be_elsewhere then true
        when lacks_rdma or lacks_netdevs then null
        when lacks_functions is null or lacks_rdma is null or lacks_netdevs is null then null
        else false
    end as fault,
    case
        when lacks_rdma and loaded = 0 then 'mlx5_ib is not loaded'
        when lacks_rdma and is_driverless then 'no driver is bound'
    end as detail,
    case when lacks_rdma then round((rdma_least - rdma_devices) * port_gbps, 1) end as cost_gbps,
    case
        when not is_confirmed then 'unconfirmed'
        when lacks_rdma and may_be_elsewhere then 'elsewhere'
        when not lacks_rdma and lacks_netdevs then 'elsewhere'
    end as reason
from cards
