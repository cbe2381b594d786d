/* +++
id = "gid-index-unusable"
aliases = ["ADR-02"]
title = "Pinned GID index is not RoCE v2"
severity = "blocker"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "port_scope.state",
    "library_setting.value", "library_setting.precedence", "gid.gid", "gid.netdev", "gid.type",
]
message = "{subject}: NCCL_IB_GID_INDEX points at {observed}; expected {expected}"
action = "set"
setting = "library.setting"
implied_by = ["gid-not-routable"]
since = "0.2"
sources = ["review ADR-02", "incident I-043 I-044 I-058", "NCCL src/transport/net_ib/connect.cc: ncclIbGetGidIndex"]

[uses]
"probe_result.status" = "distinguishes a variable or slot that is not set from one that was not collected"
"port_scope.inferred" = {purpose = "severity"}

[grades]
blocker = "the slot is empty"
high = "the slot is link-local or belongs to another network namespace"
medium = "the slot holds a RoCE v1 GID"
+++
## Why it matters
NCCL_IB_GID_INDEX is one number for every port of every host, but GID tables differ: a VLAN, a second address or a macvlan
shifts the slots. A port whose slot is empty fails at job start. A port whose slot is link-local times out (error 12). RoCE
v1 is a bare Ethernet frame: routers do not forward it, no DSCP marks its priority, and ECMP has nothing to hash.

## What to do
Remove the variable from the file: NCCL 2.21 and later find the RoCE v2 IPv4 GID themselves. On older releases, set the
index that `show_gids` lists, or rearrange the addresses so that all ports have it at the same index. New jobs read the
file, running jobs do not. No reset is needed.

## Exceptions
Only the host's configuration files are read: a job that sets the variable itself, or a container with its own
/etc/nccl.conf, is not seen. A fabric that is a single layer 2 domain may run RoCE v1 on purpose: waive the finding. The
variables of other libraries (UCX_IB_GID_INDEX, NVSHMEM_IB_GID_INDEX) are not checked.
*/
with pinned as (
    select target, case when value = '' then -1 else try_cast(value as integer) end as index
    from library_value('NCCL_IB_GID_INDEX')
)
select
    p.target,
    p.device,
    p.port,
    'index ' || i.index || case
        when g.index is null then ', which is empty'
        when g.netdev = '' then ', which belongs to another network namespace'
        when g.gid like 'fe80:%' then ', which is link-local'
        else ', which is ' || g.type
    end as observed,
    'a RoCE v2 GID that is not link-local' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.state = 'ACTIVE' and p.netdev <> ''
        and i.index >= 0 as applies,
    case
        when g.index is null and r.status = 'ok' then true
        else g.gid like 'fe80:%' or g.netdev = '' or g.type <> 'RoCE v2'
    end as fault,
    p.netdev as detail,
    p.inferred,
    case
        when g.index is null then 'blocker'
        when g.gid not like 'fe80:%' and g.netdev <> '' then 'medium'
        else 'high'
    end as severity
from port_scope as p
left join pinned as i on i.target = p.target
left join gid as g on g.target = p.target and g.device = p.device and g.port = p.port and g.index = i.index
left join probe_result as r on r.target = p.target and r.probe = 'infiniband' and r.instance = ''
