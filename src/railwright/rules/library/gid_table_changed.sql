/* +++
id = "gid-table-changed"
aliases = ["N-23"]
title = "GID table changed"
severity = "high"
subject = "port"
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.netdev", "host.boot_id", "gid.gid", "gid.type",
    "before.port.netdev", "before.host.boot_id", "before.gid.gid", "before.gid.type",
]
message = "{subject} has the GIDs {observed}; it had {expected}"
action = "reset"
disturbs = "running jobs"
baseline = true
preview = true
since = "0.2"
sources = ["review N-23", "incident I-050 I-051"]

[uses]
"probe_result.status" = "distinguishes an empty GID table from one that was not read completely"
"before.probe_result.status" = "distinguishes an empty GID table from one that was not read completely"
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
Libraries look up the index of a GID once. If the link flaps or an address is reassigned, the kernel may move the same GID
to another index or drop it. Queue pairs of running jobs then fail, or never recover after the flap.

## What to do
1. Restart the jobs that were running on the port.
2. Find what moved the address: a DHCP lease, a network service that restarted, a CNI. Static addresses on the rails keep
   the table stable.

## Exceptions
Expected after planned address changes between two jobs, which are harmless: waive the finding. Only ports that were in
the host's namespace both times are compared, and only within one boot. Only Ethernet is checked: InfiniBand GIDs belong
to the subnet manager.
*/
with port_gids as (
    select
        target,
        device,
        port,
        case when count(gid) = count(*) and count(type) = count(*) then list(index || ': ' || gid || ' ' || type order by index) end as entries,
        string_agg(index || ': ' || case when gid like '0000:0000:0000:0000:0000:ffff:%' then 'IPv4 ' when gid like 'fe80:%' then 'link-local ' else 'IPv6 ' end || type, ', ' order by index) as kinds
    from gid
    group by target, device, port
),
earlier_gids as (
    select
        target,
        device,
        port,
        case when count(gid) = count(*) and count(type) = count(*) then list(index || ': ' || gid || ' ' || type order by index) end as entries,
        string_agg(index || ': ' || case when gid like '0000:0000:0000:0000:0000:ffff:%' then 'IPv4 ' when gid like 'fe80:%' then 'link-local ' else 'IPv6 ' end || type, ', ' order by index) as kinds
    from before.gid
    group by target, device, port
),
both_times as (
    select
        p.target,
        p.device,
        p.port,
        -- Unused slots have no row: a table that was read may have none at all.
        case when r.status = 'ok' and n.target is null then [] when r.status = 'ok' then n.entries end as now,
        case when e.status = 'ok' and b.target is null then [] when e.status = 'ok' then b.entries end as earlier,
        case when n.target is null then 'none' else n.kinds end as kinds,
        case when b.target is null then 'none' else b.kinds end as earlier_kinds
    from port_scope as p
    left join port_gids as n on n.target = p.target and n.device = p.device and n.port = p.port
    left join earlier_gids as b on b.target = p.target and b.device = p.device and b.port = p.port
    join probe_result as r on r.target = p.target and r.probe = 'infiniband' and r.instance = ''
    join before.probe_result as e on e.target = p.target and e.probe = 'infiniband' and e.instance = ''
)
select
    p.target,
    p.device,
    p.port,
    case when t.now <> t.earlier and t.kinds = t.earlier_kinds then 'other addresses at the same indices' else t.kinds end as observed,
    t.earlier_kinds as expected,
    p.link_layer = 'Ethernet' and p.role = 'compute' and p.netdev <> '' and b.netdev <> ''
        and h.boot_id = eh.boot_id as applies,
    t.now <> t.earlier as fault,
    concat_ws(', ',
        p.netdev,
        case when t.now <> t.earlier and t.now <> [] then 'now ' || array_to_string(list_filter(t.now, lambda one: not list_contains(t.earlier, one)), ', ') end,
        case when t.now <> t.earlier and t.earlier <> [] then 'before ' || array_to_string(list_filter(t.earlier, lambda one: not list_contains(t.now, one)), ', ') end
    ) as detail,
    p.inferred
from port_scope as p
left join both_times as t on t.target = p.target and t.device = p.device and t.port = p.port
left join before.port as b on b.target = p.target and b.device = p.device and b.port = p.port
left join host as h on h.target = p.target
left join before.host as eh on eh.target = p.target
