/* +++
id = "nic-names-differ"
aliases = ["FLT-05"]
title = "NIC names deviate from peers"
severity = "medium"
subject = "host"
peers = true
needs = ["host_scope.kind", "host_kind.nic_functions", "port_scope.pci", "rdma_device.psid"]
message = "{subject} has {observed}; most of its kind have {expected}"
action = "ask"
setting = "host.rdma_names"
since = "0.2"
sources = ["review FLT-05, G-FLEET", "incident I-025, I-026, I-032"]

[uses]
"host_scope.class" = "hosts of one kind in different classes of the site file are not compared"

[parameters.least_members]
default = 8
unit = "hosts of one kind"
reason = "review G-FLEET: fewer do not make a peer group"
+++
## Why it matters
A job that names its NICs (`NCCL_IB_HCA`, a list for MPI or NVSHMEM) selects other rails on this host, or NICs that do not
exist: it hangs, falls back to sockets, or pairs rail 3 with rail 5.

## What to do
Use one naming scheme on all hosts, with persistent udev rules (rdma-core's `rdma-persistent-naming`, or the old names by
PCI order), then reboot. `rdma dev set` renames at once, including devices in use, and jobs that use the old name lose the
device: drain the host first. Until then leave the names out of job settings: NCCL finds the NICs by itself. Beware of names
that do not begin with `mlx5`: some libraries skip them.

## Exceptions
If one card is in another slot on purpose, give the host a class in the site file. NICs are compared in the order of their
PCI addresses, by type and name.
*/
with devices as (
    select distinct target, device, pci from port_scope
),

hosts as (
    select
        h.target,
        concat_ws(' of class ', h.kind, h.class) as peers,
        count(*) over (partition by h.kind, h.class) as members,
        n.names
    from host_scope as h
    left join (
        select
            d.target,
            case
                when count(d.pci) = count(*) and count(r.psid) = count(*)
                    then string_agg(d.device || ' (' || r.psid || ')', ', ' order by d.pci)
            end as names
        from devices as d
        left join rdma_device as r on r.target = d.target and r.device = d.device
        group by d.target
    ) as n on n.target = h.target
    where h.kind is not null
),

usual as (
    select peers, mode_known(names) as names, differ_known(names) as differ from hosts group by peers
),

compared as (
    select
        h.target,
        h.peers,
        h.members,
        u.differ,
        h.names <> u.names as fault,
        list_filter(list_zip(string_split(h.names, ', '), string_split(u.names, ', ')), lambda pair: pair[1] <> pair[2]) as pairs
    from hosts as h
    inner join usual as u on u.peers = h.peers
)

select
    h.target,
    array_to_string(list_transform(c.pairs, lambda pair: pair[1]), ', ') as observed,
    array_to_string(list_transform(c.pairs, lambda pair: pair[2]), ', ') as expected,
    k.nic_functions > 0 and case when h.kind is not null then c.members >= $least_members or c.differ end as applies,
    case when not c.fault or c.members >= $least_members then c.fault end as fault,
    'peers: ' || c.peers as detail,
    case when c.members < $least_members then 'few_peers' end as reason
from host_scope as h
left join host_kind as k on k.target = h.target
left join compared as c on c.target = h.target
