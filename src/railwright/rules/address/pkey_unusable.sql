/* +++
id = "pkey-unusable"
aliases = ["ADR-09"]
title = "Unusable partition key (P_Key)"
severity = "high"
subject = "port"
peers = true
needs = [
    "port_scope.link_layer", "port_scope.role", "port_scope.state", "pkey.partition", "pkey.membership",
    "library_setting.value", "library_setting.precedence",
]
message = "{subject}: partition key at {observed}; expected {expected}"
action = "ask"
setting = "library.setting"
implied_by = ["port-down", "subnet-manager-missing"]
since = "0.2"
sources = [
    "review ADR-09", "incident I-057", "NCCL environment variables: NCCL_IB_PKEY is an index, 0 where unset",
    "InfiniBand Architecture Specification, volume 1, partitions: the low 15 bits are never zero, limited members do not talk to each other",
]

[uses]
"probe_result.status" = "distinguishes a variable or slot that is not set from one that was not collected"
"pkey.pkey" = {purpose = "words"}
"port_scope.inferred" = {purpose = "severity"}
+++
## Why it matters
A queue pair sends with the P_Key at one index of the port's table. If that entry is empty, or both sides are limited
members of the partition, the receiver drops the packets. The job fails with a transport error after its retries, while the
link is up and a test with another index works.

## What to do
1. List the keys: `grep . /sys/class/infiniband/DEVICE/ports/PORT/pkeys/* | grep -v 0x0000`.
2. Set NCCL_IB_PKEY to the index of the site's partition, or have the subnet manager (partitions.conf, UFM) make the compute
   ports full members. The table changes at once, without a reset; running jobs keep their queue pairs.

## Exceptions
Only the host's configuration files are read: a job that sets NCCL_IB_PKEY itself, or a container with its own
/etc/nccl.conf, is not seen. A port of this fabric that talks to full members only, e.g. a client of a storage system, may
be a limited member: give it the role `storage` in the site file.
*/
with pinned as (
    select
        r.target,
        case
            when count(*) filter (s.precedence = 1) = 1 then try_cast(max(s.value) filter (s.precedence = 1) as integer)
            -- Set in none of the files, and all of them were read; a file that was not has a row without a precedence.
            when count(*) filter (s.file is not null and s.precedence is null) = 0 then 0
        end as index
    from probe_result as r
    left join library_setting as s on s.target = r.target and s.name in ('', 'NCCL_IB_PKEY')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
),

used as (
    select
        p.target,
        p.device,
        p.port,
        i.index,
        k.pkey,
        case
            when p.role is null then null -- perhaps it is a compute port
            -- An index without a row is empty, if the table was collected.
            when i.index is not null and k.index is null and r.status = 'ok' then 0
            else k.partition
        end as partition,
        k.membership
    from port_scope as p
    left join pinned as i on i.target = p.target
    left join pkey as k on k.target = p.target and k.device = p.device and k.port = p.port and k.index = i.index
    left join probe_result as r on r.target = p.target and r.probe = 'infiniband' and r.instance = ''
    where p.link_layer = 'InfiniBand' and (p.role = 'compute' or p.role is null)
),

-- Of each partition how many machines have a member, and how many a limited one.
partitions as (
    select
        partition,
        count(distinct target) filter (membership = 'limited') as limited_machines,
        count(distinct target) as machines
    from used
    group by partition
),

unread as (
    select count(*) filter (partition is null or (partition > 0 and membership is null)) as ports from used
)

select
    p.target,
    p.device,
    p.port,
    'index ' || u.index || case
        when u.partition = 0 and u.pkey is null then ' is empty'
        when u.partition = 0 then ' is ' || u.pkey || ', which is not a valid key'
        else ' is ' || u.pkey || ', a ' || u.membership || '-member key, as on other machines'
    end as observed,
    'a full-member key' as expected,
    p.link_layer = 'InfiniBand' and p.role = 'compute' and p.state = 'ACTIVE' as applies,
    case
        when u.partition = 0 then true
        when u.membership = 'full' and u.partition > 0 then false
        when u.membership = 'limited' and s.limited_machines > 1 then true
        -- A limited member can talk to full ones; alone, or beside ports that were not collected, it is inconclusive.
        when u.membership = 'limited' and s.machines > 1 and n.ports = 0 then false
    end as fault,
    p.inferred
from port_scope as p
left join used as u on u.target = p.target and u.device = p.device and u.port = p.port
left join partitions as s on s.partition = u.partition
cross join unread as n
