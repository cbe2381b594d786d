/* +++
id = "gid-not-routable"
aliases = ["ADR-01"]
title = "No routable RoCE v2 GID"
severity = "high"
subject = "port"
needs = ["port_scope.link_layer", "port_scope.role", "port_scope.netdev", "gid.gid", "gid.type"]
message = "{subject} has {observed}; jobs need {expected}"
action = "ask"
setting = "netdev.address"
implied_by = ["port-down"]
since = "0.2"
sources = ["review ADR-01", "incident I-044", "NCCL src/transport/net_ib/connect.cc: validGid"]

[uses]
"port_scope.vf_count" = "only excuses a port without a GID"
"netdev.master" = "only excuses a port without a GID"
"probe_result.status" = "distinguishes an empty GID table from one that was not collected completely"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
RoCE v2 addresses a peer by an IP address of the port, stored as a GID. A port that has only link-local GIDs (fe80::) or
only RoCE v1 GIDs cannot reach a peer behind a router: connections time out (completion error 12) when the job starts.

## What to do
Give the network device its rail address (netplan, NetworkManager, the fabric's DHCP) and make it persistent. The GID
appears at once, without a link bounce. If the device has an address but no GID, check `ROCE_CONTROL` and `cma_roce_mode`.

## Exceptions
Two hosts back to back, or a single layer 2 domain, can run on link-local GIDs: waive the finding. The rule skips ports
whose network device is in a pod's namespace, ports with virtual functions, and members of a bond or bridge, because there
the address is on another device. A port in a VRF that lost its address looks like such a member and is not reported.
*/
with port_gids as (
    select
        p.target,
        p.device,
        p.port,
        count(g.index) as entries,
        case
            when any_known(g.type = 'RoCE v2' and g.gid not like 'fe80:%') then true
            -- Slots that are not in use have no row: a table that was read may have none at all.
            when r.status = 'ok' and count(g.index) = count(g.gid) and count(g.index) = count(g.type) then false
        end as routable
    from port_scope as p
    left join gid as g on g.target = p.target and g.device = p.device and g.port = p.port
    left join probe_result as r on r.target = p.target and r.probe = 'infiniband' and r.instance = ''
    group by p.target, p.device, p.port, r.status
)
select
    p.target,
    p.device,
    p.port,
    case when g.entries = 0 then 'no GID' else 'no routable RoCE v2 GID (GID table entries: ' || g.entries || ')' end as observed,
    'a RoCE v2 GID that is not link-local' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> ''
        -- A port that has one needs no excuse.
        and (g.routable or (p.vf_count = 0 and n.master = '')) as applies,
    not g.routable as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join port_gids as g on g.target = p.target and g.device = p.device and g.port = p.port
left join netdev as n on n.target = p.target and n.name = p.netdev
