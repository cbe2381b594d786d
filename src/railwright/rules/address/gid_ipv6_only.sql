/* +++
id = "gid-ipv6-only"
aliases = ["ADR-08"]
title = "RoCE port with IPv6 GIDs only"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.netdev", "gid.gid", "gid.type"]
message = "{subject} has {observed}; NCCL needs {expected}"
action = "set"
setting = "library.setting"
since = "0.2"
sources = ["review ADR-08", "incident I-047", "NCCL src/transport/net_ib/connect.cc: ncclUpdateGidIndex"]

[uses]
"library_setting.value" = "a variable that is not set has no row; probe_result shows whether the files were collected"
"library_setting.precedence" = "a variable that is not set has no row; probe_result shows whether the files were collected"
"probe_result.status" = "distinguishes a variable or slot that is not set from one that was not collected"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
NCCL selects a GID of the family in NCCL_IB_ADDR_FAMILY (IPv4 if unset). On a port without an IPv4 GID it stays at index 0,
which is RoCE v1 or link-local, although the port has a routable IPv6 GID. Every operation then fails with error 12. Rails
that get their addresses only from router advertisements (SLAAC) are in this state unless NCCL is configured for it.

## What to do
Set `NCCL_IB_ADDR_FAMILY=AF_INET6` in /etc/nccl.conf on every host of the pool, or give the ports IPv4 addresses too. New
jobs read the file, running jobs do not. NCCL_SOCKET_FAMILY is a different setting: it applies to the control connections.

## Exceptions
Only the host's configuration files are read. Jobs that set the family or the index themselves are fine, and so are
libraries that select the GID in another way: waive the finding if all jobs do so.
*/
with port_gids as (
    select
        target,
        device,
        port,
        any_known(type = 'RoCE v2' and gid not like 'fe80:%') as has_routable,
        any_known(type = 'RoCE v2' and gid like '0000:0000:0000:0000:0000:ffff:%') as has_ipv4,
        -- Slots that are not in use have no row.
        any_known(index = 0 and type = 'RoCE v2' and gid not like 'fe80:%') as first_is_routable
    from gid
    group by target, device, port
)
select
    p.target,
    p.device,
    p.port,
    'no IPv4 RoCE v2 GID, and index 0 is link-local or RoCE v1' as observed,
    'an IPv4 RoCE v2 GID, or NCCL_IB_ADDR_FAMILY=AF_INET6' as expected,
    -- A port without any routable GID is the business of another rule.
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and g.has_routable
        and (g.has_ipv4 or ((i.value = '' or i.value like '-%') and f.value <> 'AF_INET6')) as applies,
    not g.has_ipv4 and not g.first_is_routable as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join port_gids as g on g.target = p.target and g.device = p.device and g.port = p.port
left join library_value('NCCL_IB_GID_INDEX') as i on i.target = p.target -- '' = not set
left join library_value('NCCL_IB_ADDR_FAMILY') as f on f.target = p.target
