/* +++
id = "memlock-limited"
aliases = ["DRV-05"]
title = "Locked-memory limit too low for RDMA"
severity = "medium"
subject = "host"
needs = ["pcie_endpoint.kind", "resource_limit.domain", "resource_limit.item", "resource_limit.soft_bytes"]
message = "{subject}: {observed}; RDMA needs {expected}"
action = "set"
setting = "host.memlock"
since = "0.2"
sources = [
  "review DRV-05",
  "incident I-101, I-102",
  "limits.conf(5), systemd.exec(5), systemd-system.conf(5)",
  "judgement: medium, because files tell what sessions and daemons are given, not what a job step has",
  "judgement: pods have CAP_IPC_LOCK or not by their own specification, and without a line the host does not show which",
]

[parameters.share_of_memory]
default = 0.9
unit = "share of the host's memory"
reason = "review DRV-05: less than nearly all of it can run out with large buffers"

[unless]
"resource_limit.soft_bytes" = "the line sets no soft limit; a line that was not collected completely has no item either"

[uses]
"numa_node.memory_total_mb" = "used only where a limit is a number"
"resource_limit.value" = {purpose = "words"}
"job_daemon.unit" = "a host that starts no job daemon at boot has sessions only; the limits probe shows which"
"probe_result.status" = "distinguishes a limit that is not set from one that was not collected"
+++
## Why it matters
Registering memory for RDMA locks it. If the locked-memory limit is too low, ibv_reg_mr fails with "cannot allocate memory",
at job start or only with large buffers.

## What to do
For sessions, set `* soft memlock unlimited` and `* hard memlock unlimited` in /etc/security/limits.d. For daemons that
start jobs, set `LimitMEMLOCK=infinity` in a drop-in of slurmd, containerd, docker or kubelet, then restart that daemon: a
running daemon keeps its old limit. In Slurm, also set `PropagateResourceLimitsExcept=MEMLOCK`; otherwise the job inherits
the limit of the login node. For containers, use `--ulimit memlock=-1`.

## Exceptions
On a host that starts containers at boot, and no slurmd, the pods decide: the host is not checked unless a file sets a
limit. Jobs that run as root or with CAP_IPC_LOCK have no limit. A package may set the limit of a unit that does not start
at boot. If the limit is lifted for sessions, a daemon without a line of its own is not reported: Slurm's own unit lifts it
too. What counts in the end is `grep locked /proc/PID/limits` of a job step. If the host has none of the files that can set
a limit, the check is inconclusive.
*/
with cards as (
    select target, any_known(kind = 'nic') as has_one
    from pcie_endpoint
    group by target
),

answered as (
    select
        target,
        bool_or(probe = 'pci' and status = 'ok') as pci, -- null: no answer, no row
        bool_or(probe = 'limits' and status = 'ok') as limits -- null: the same
    from probe_result
    where probe in ('pci', 'limits')
    group by target
),

memory as (
    select target, sum_known(memory_total_mb) * 1048576 as bytes
    from numa_node
    group by target
),

-- The last line wins: limits.conf before limits.d, a unit before its drop-ins, files sorted by name.
lines as (
    select
        *,
        case when file like '/etc/security/%' then 'sessions' when domain = '*' then 'all units' else domain end as giver,
        giver <> 'sessions' or domain = '*' as is_for_all,
        row_number() over (partition by target, giver, domain order by file like '%.d/%' desc, file desc, place desc) as from_end
    from resource_limit
    where item = 'memlock' and soft_bytes is not null
),

given as (
    select
        l.target,
        any_known(l.soft_bytes >= 0 and l.soft_bytes < m.bytes * $share_of_memory) as is_small,
        string_agg(l.giver || ' memlock ' || l.value, ', ' order by l.giver) as words
    from lines as l
    left join memory as m on m.target = l.target
    where l.from_end = 1 and l.is_for_all
    group by l.target
),

-- Lines for some users or groups only, and files that could not be read whole.
open_questions as (
    select target, count(*) filter (item is null or domain is null) as unread, count(*) filter (domain <> '*') as some_users
    from resource_limit
    where item is null or domain is null or (item = 'memlock' and soft_bytes is not null and file like '/etc/security/%')
    group by target
),

-- Jobs in containers: what they may lock is written in their pod (CAP_IPC_LOCK), or at the runtime's unit.
daemons as (
    select
        target,
        bool_or(unit in ('containerd.service', 'docker.service', 'kubelet.service')) and not bool_or(unit = 'slurmd.service') as run_containers -- null: each has a name
    from job_daemon
    group by target
)

select
    t.target,
    coalesce(g.words, 'no file sets memlock') as observed, -- null: for the words
    'unlimited, or ' || ($share_of_memory * 100)::integer || ' % of memory' as expected,
    case when c.target is not null then c.has_one when a.pci then false end
        and not (d.target is not null and d.run_containers and g.target is null and u.target is null) as applies,
    case
        when g.is_small then true
        when u.unread > 0 then null
        when g.target is not null then g.is_small
        when u.some_users > 0 then null -- which of them run jobs is unknown
        when a.limits then true -- nothing sets it: the kernel's default of 8 MB holds
    end as fault
from host_scope as t
left join cards as c on c.target = t.target
left join answered as a on a.target = t.target
left join given as g on g.target = t.target
left join open_questions as u on u.target = t.target
left join daemons as d on d.target = t.target
