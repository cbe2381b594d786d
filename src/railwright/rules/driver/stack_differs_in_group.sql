/* +++
id = "DRV-06"
title = "RDMA driver differs from that of like hosts"
severity = "medium"
subject = "host"
peers = true
needs = ["kernel_module.taints"]
message = "{subject} runs {observed}, most hosts of its kind run {expected}"
since = "0.2"
sources = [
  "review DRV-06, G-FLEET",
  "judgement: the taint O tells a vendor's package from the kernel's own driver",
]

[parameters.least_members]
default = 8
unit = "hosts"
reason = "review G-FLEET: fewer are no group to compare in"

[uses]
"host_scope.kind" = "asked only where the site gives the host no class"
"host_scope.class" = "the site's word on which hosts are alike counts before their hardware"
"kernel_module.version" = "of the vendor's package; the kernel's own driver often has none"
"probe_result.status" = "tells a host without this driver from one whose modules were not read"
"host.kernel" = "stands for the version of the kernel's own driver"
+++
## Why it matters
A pool with two driver stacks has two sets of defaults, counters and sysfs files. Settings that one of them has are
missing on the other, and what was measured on one half does not hold for the other.

## What to do
Bring the hosts to one stack, in a drained window: it replaces kernel modules and needs a reboot. Rebuild nvidia_peermem
and other modules that hang on ib_core afterwards.

## When it is wrong
During a rolling upgrade, until more than half of the group has the new stack. Patch levels are not compared: MLNX_OFED
and DOCA-OFED of one major.minor are alike.
*/
with answered as (
    select target, bool_or(status = 'ok') as modules -- null: no answer is no row
    from probe_result
    where probe = 'modules'
    group by target
),

members as (
    select
        h.target,
        coalesce(h.class, h.kind) as kind, -- null: without a class the hardware tells
        case when m.name is not null then true when a.modules then false end as is_member,
        case
            when m.taints like '%O%' then 'DOCA/OFED ' || regexp_extract(m.version, '^[0-9]+\.[0-9]+')
            when m.taints is not null then 'the driver of kernel ' || regexp_extract(k.kernel, '^[0-9]+\.[0-9]+')
        end as stack
    from host_scope as h
    left join answered as a on a.target = h.target
    left join host as k on k.target = h.target
    left join kernel_module as m on m.target = h.target and m.name = 'mlx5_core'
),

groups as (
    select kind, count(*) as members, mode_known(stack) as stack, differ_known(stack) as differ
    from members
    where is_member is not false -- one that was not read may disagree
    group by kind
)

select
    m.target,
    m.stack as observed,
    g.stack as expected,
    m.is_member and case when m.kind is not null then g.members >= $least_members or g.differ end as applies,
    case when m.stack = g.stack then false when g.members >= $least_members then m.stack <> g.stack end as fault,
    m.kind as detail,
    case when g.members < $least_members then 'few_peers' end as reason
from members as m
left join groups as g on g.kind = m.kind
