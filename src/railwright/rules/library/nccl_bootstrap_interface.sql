/* +++
id = "nccl-bootstrap-interface"
aliases = ["N-21"]
title = "NCCL_SOCKET_IFNAME matches no usable interface"
severity = "high"
subject = "host"
needs = ["library_setting.value", "library_setting.precedence", "probe_result.status", "netdev.operstate"]
message = "{subject}: NCCL_SOCKET_IFNAME is {observed}; {expected}"
action = "ask"
setting = "library.setting"
since = "0.2"
sources = [
    "review N-21", "NCCL src/misc/socket.cc: ncclFindInterfaces, findInterfaces",
    "judgement: an interface that is down does not count",
]
+++
## Why it matters
NCCL ranks first connect over TCP, on the interfaces that this variable names. If none of these exists and is up, every
job on the host fails at start ("no socket interface found").

## What to do
Compare the value with `ip -br link`: interface names change with a kernel, a slot or a naming rule. A prefix, e.g. `eno`,
is safer than a full name; an exclusion (`^docker,lo`) is safer still. New jobs read the file; running jobs do not.

## Exceptions
Only the host's configuration files and its own namespace are read. A job that sets the variable itself, or runs in a
container with other interfaces, is not seen. The rule does not check whether the interface reaches the other ranks: in a
fabric without routes between rails, a rail does not.
*/
with name_list as (
    select target, value from library_value('NCCL_SOCKET_IFNAME') -- '' = not set
),
-- A leading ^ excludes, a = after it requires full names instead of prefixes.
entries as (
    select
        target,
        regexp_matches(value, '^\^?=') as whole,
        unnest(string_split(regexp_replace(value, '^\^?=?', ''), ',')) as entry
    from name_list
),
named as (
    select distinct n.target, n.name
    from netdev as n
    join entries as e
        on e.target = n.target and e.entry <> ''
        and case when e.whole then n.name = e.entry else starts_with(n.name, e.entry) end
),
usable as (
    select
        l.target,
        count(*) filter ((m.name is not null) <> (l.value like '^%')) as chosen,
        -- Virtual interfaces that do not monitor their link report unknown.
        any_known((m.name is not null) <> (l.value like '^%') and n.operstate in ('up', 'unknown', 'dormant')) as has_one
    from name_list as l
    join netdev as n on n.target = l.target
    left join named as m on m.target = n.target and m.name = n.name
    group by l.target
)
select
    t.target,
    l.value as observed,
    case when u.chosen = 0 then 'no interface matches' else 'no matching interface is up' end as expected,
    -- NCCL ignores a single character.
    length(l.value) > 1 as applies,
    case when r.status = 'ok' then not u.has_one end as fault
from host_scope as t
left join name_list as l on l.target = t.target
left join usable as u on u.target = t.target
left join probe_result as r on r.target = t.target and r.probe = 'netdev' and r.instance = ''
