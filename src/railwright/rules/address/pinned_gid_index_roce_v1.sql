/* +++
id = "ADR-02b"
title = "The pinned GID index is a RoCE v1 one"
severity = "medium"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "port_scope.state",
    "library_setting.value", "library_setting.precedence", "gid.gid", "gid.type",
]
message = "{subject}: NCCL_IB_GID_INDEX chooses {observed}, not {expected}"
since = "0.2"
sources = ["rules-review.md ADR-02", "incidents.md I-043", "NCCL src/transport/net_ib/connect.cc: ncclIbGetGidIndex"]

[uses]
"probe_result.status" = "tells a variable or a slot that is not there from one that was not read"
"port_scope.inferred" = "caps the severity"
+++
## Why it matters
RoCE v1 is a bare Ethernet frame: no router passes it on, no DSCP tells its priority, and ECMP has nothing to hash.
Inside one layer 2 domain it works, across it connections time out.

## What to do
Remove NCCL_IB_GID_INDEX from the file (NCCL 2.21 and later prefer RoCE v2) or set the index of the same address with
type RoCE v2, which is mostly the next one. New jobs read the file, running ones do not. No reset.

## When it is wrong
A fabric that is one layer 2 domain may run RoCE v1 on purpose. Only the host's configuration files are read: what a job
sets itself, and a container's own /etc/nccl.conf, are not seen.
*/
with pinned as (
    select
        r.target,
        case
            when count(*) filter (s.precedence = 1) = 1 then try_cast(max(s.value) filter (s.precedence = 1) as integer)
            -- Set in none of the files, and all of them were read; a file that was not has a row without a precedence.
            when count(*) filter (s.file is not null and s.precedence is null) = 0 then -1
        end as index
    from probe_result as r
    left join library_setting as s on s.target = r.target and s.name in ('', 'NCCL_IB_GID_INDEX')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
)
select
    p.target,
    p.device,
    p.port,
    'index ' || i.index || ', ' || g.type as observed,
    'RoCE v2' as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.state = 'ACTIVE' and p.netdev <> '' and i.index >= 0
        -- An empty or link-local slot is the worse fault of another rule.
        and case when i.index >= 0 and g.index is null and r.status = 'ok' then false else g.gid not like 'fe80:%' end as applies,
    g.type <> 'RoCE v2' as fault,
    p.netdev as detail,
    p.inferred
from port_scope as p
left join pinned as i on i.target = p.target
left join gid as g on g.target = p.target and g.device = p.device and g.port = p.port and g.index = i.index
left join probe_result as r on r.target = p.target and r.probe = 'infiniband' and r.instance = ''
