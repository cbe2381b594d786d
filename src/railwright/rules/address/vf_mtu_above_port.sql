/* +++
id = "vf-mtu-above-port"
aliases = ["MTU-03"]
title = "VF RDMA MTU above that of its port"
severity = "high"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.vf_count", "port_scope.pci",
    "rdma_device.pci", "pci_function.physical_function", "verbs_port.active_mtu",
]
message = "{subject}: {observed}; the port has {expected}"
action = "set"
setting = "netdev.mtu"
since = "0.2"
sources = ["review MTU-03", "reference B3", "judgement: the port's frame size is set by the physical function alone"]

[uses]
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A virtual function sends through the port of its physical function, and the physical function sets the port's frame size. A
pod whose network device has MTU 9000 on a port at 1500 opens connections, but its large messages are lost.

## What to do
Either lower the MTU in the CNI's network definition, or raise the port's:
1. Raise the MTU of the switch port.
2. Raise the MTU of the physical function's network device to at least that of its virtual functions
   (`ip link set NETDEV mtu 9000`, and in netplan or NetworkManager). This restarts the device's queues.

## Exceptions
Only virtual functions whose RDMA device is visible on the host are compared: not those in a guest, and not those that moved
with their namespace. The host does not show whether the switch has at least the port's MTU.
*/
with functions as (
    select
        f.target,
        f.physical_function as pci,
        case when count(v.active_mtu) = count(*) then max(v.active_mtu) end as mtu,
        max(d.device) as device
    from pci_function as f
    join rdma_device as d on d.target = f.target and d.pci = f.pci
    left join verbs_port as v on v.target = d.target and v.device = d.device
    where f.physical_function <> ''
    group by f.target, f.physical_function
),

-- Devices that may or may not be virtual functions, of an unknown port.
unplaced as (
    select distinct d.target
    from rdma_device as d
    left join pci_function as f on f.target = d.target and f.pci = d.pci
    where d.pci is null or (d.pci <> '' and f.physical_function is null)
)
select
    p.target,
    p.device,
    p.port,
    'RDMA MTU ' || f.mtu || ' on a virtual function' as observed,
    'RDMA MTU ' || v.active_mtu as expected,
    p.link_layer = 'Ethernet' and p.role in ('compute', 'storage') and p.vf_count > 0
        -- Virtual functions that the host does not see can only be judged where they are.
        and case
            when f.target is not null then true
            when p.vf_count is not null and p.pci is not null and u.target is null then false
        end as applies,
    -- A function that is not placed may be one of this port.
    case when f.mtu > v.active_mtu then true when u.target is null then f.mtu > v.active_mtu end as fault,
    f.device as detail,
    p.inferred
from port_scope as p
left join functions as f on f.target = p.target and f.pci = p.pci
left join unplaced as u on u.target = p.target
left join verbs_port as v on v.target = p.target and v.device = p.device and v.port = p.port
