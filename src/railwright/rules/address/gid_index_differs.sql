/* +++
id = "gid-index-differs"
aliases = ["ADR-03"]
title = "RoCE v2 GID index deviates from peers"
severity = "high"
subject = "port"
peers = true
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "port_scope.cohort",
    "gid.gid", "gid.type", "library_setting.value", "library_setting.precedence",
]
message = "{subject} has its RoCE v2 IPv4 GID at index {observed}; its peers have it at {expected}"
action = "set"
setting = "library.setting"
implied_by = ["gid-index-unusable"]
since = "0.2"
sources = ["review ADR-03", "review G-FLEET", "incident I-049 I-058"]

[unless]
"library_setting.value" = "a peer is known to pin an index"
"library_setting.precedence" = "a peer is known to pin an index"

[uses]
"probe_result.status" = "distinguishes a variable that is not set from one that was not collected"
"port_scope.inferred" = {purpose = "severity"}

[parameters.least_members]
default = 8
unit = "ports"
reason = "review G-FLEET: fewer have no reliable majority"
+++
## Why it matters
At least one host of this group pins NCCL_IB_GID_INDEX. One index for all ports works only if every port has its RoCE v2
IPv4 GID in the same slot. On a port that has it elsewhere, the job fails at start.

## What to do
The best fix is to remove the pin: NCCL 2.21 and later select the GID themselves. Otherwise:
1. Find what shifted the slots on this port with `show_gids`: an extra VLAN, a second address, an address that came up in
   another order.
2. Drain the host: removing and re-adding an address moves its GID under running connections.
3. Remove the cause.

## Exceptions
Jobs that let NCCL select the GID are not affected. Only the host's configuration files are read: if every job sets the pin
itself, this rule does not see it and reports nothing.
*/
with port_gids as (
    select
        target,
        device,
        port,
        -- -1: there is none.
        case
            when count(gid) < count(*) or count(type) < count(*) then null
            when count(*) filter (type = 'RoCE v2' and gid like '0000:0000:0000:0000:0000:ffff:%') = 0 then -1
            else min(index) filter (type = 'RoCE v2' and gid like '0000:0000:0000:0000:0000:ffff:%')
        end as index
    from gid
    group by target, device, port
),
pinned as (
    select target, case when value = '' then false else try_cast(value as integer) >= 0 end as is_pinned
    from library_value('NCCL_IB_GID_INDEX')
),
cohorts as (
    select
        p.cohort,
        count(*) as members,
        mode_known(g.index) as usual,
        differ_known(g.index) as differ,
        any_known(i.is_pinned) as is_pinned
    from port_scope as p
    left join port_gids as g on g.target = p.target and g.device = p.device and g.port = p.port
    left join pinned as i on i.target = p.target
    where p.netdev <> '' and p.link_layer = 'Ethernet' and p.role = 'compute' and (g.index >= 0 or g.index is null)
    group by p.cohort
)
select
    p.target,
    p.device,
    p.port,
    g.index as observed,
    c.usual as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
        and g.index >= 0 and (c.members >= $least_members or c.differ) and c.is_pinned as applies,
    case when g.index = c.usual then false when c.members >= $least_members then g.index <> c.usual end as fault,
    p.netdev as detail,
    p.inferred,
    case when c.members < $least_members then 'few_peers' end as reason
from port_scope as p
left join port_gids as g on g.target = p.target and g.device = p.device and g.port = p.port
left join cohorts as c on c.cohort = p.cohort
