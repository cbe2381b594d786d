/* +++
id = "driver-differs"
aliases = ["DRV-06"]
title = "RDMA driver version drift"
severity = "medium"
subject = "host"
peers = true
needs = ["kernel_module.taints"]
message = "{subject} runs {observed}; most of its kind run {expected}"
action = "ask"
since = "0.2"
sources = [
  "review DRV-06, G-FLEET",
  "judgement: the taint O tells a vendor's package from the kernel's own driver",
]

[parameters.least_members]
default = 8
unit = "hosts"
reason = "review G-FLEET: fewer are too few to compare"

[uses]
"host_scope.kind" = "used only where the site file gives the host no class"
"host_scope.class" = "a class in the site file takes precedence over hardware for grouping hosts"
"kernel_module.version" = "of the vendor's package; the inbox driver often has none"
"probe_result.status" = "distinguishes a host without this driver from one whose modules were not collected"
"host.kernel" = "used as the version of the inbox driver"
+++
## Why it matters
A pool with two driver stacks has two sets of defaults, counters and sysfs files. Settings of one stack are missing on the
other, and what was measured on one half does not hold for the other.

## What to do
1. Drain the hosts and bring them to one stack: this replaces kernel modules and needs a reboot.
2. Afterwards, rebuild nvidia_peermem and other modules that depend on ib_core.

## Exceptions
Expected during a rolling upgrade, until more than half of the group has the new stack. Patch levels are not compared:
MLNX_OFED and DOCA-OFED of the same major.minor version count as equal.
*/
with answered as (
    select target, bool_or(status = 'ok') as modules -- null: no answer, no row
    from probe_result
    where probe = 'modules'
    group by target
),

members as (
    select
        h.target,
        coalesce(h.class, h.kind) as kind, -- null: without a class the hardware decides
        case when m.name is not null then true when a.modules then false end as is_member,
        case
            when m.taints like '%O%' then 'DOCA/OFED ' || regexp_extract(m.version, '^[0-9]+\.[0-9]+')
            when m.taints is not null then 'the inbox driver of kernel ' || regexp_extract(k.kernel, '^[0-9]+\.[0-9]+')
        end as stack
    from host_scope as h
    left join answered as a on a.target = h.target
    left join host as k on k.target = h.target
    left join kernel_module as m on m.target = h.target and m.name = 'mlx5_core'
),

groups as (
    select kind, count(*) as members, mode_known(stack) as stack, differ_known(stack) as differ
    from members
    where is_member is not false -- one that was not collected may differ
    group by kind
)

select
    m.target,
    m.stack as observed,
    g.stack as expected,
    m.is_member and case when m.kind is not null then g.members >= $least_members or g.differ end as applies,
    case when m.stack = g.stack then false when g.members >= $least_members then m.stack <> g.stack end as fault,
    'peers: ' || m.kind as detail,
    case when g.members < $least_members then 'few_peers' end as reason
from members as m
left join groups as g on g.kind = m.kind
