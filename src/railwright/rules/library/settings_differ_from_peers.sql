/* +++
id = "N-20"
title = "NCCL settings in the host's files differ from its peers'"
severity = "medium"
subject = "host"
peers = true
needs = ["probe_result.status", "host_scope.kind"]
message = "{subject} sets {observed}; its peers {expected}"
preview = true
since = "0.2"
sources = ["review N-20", "review G-FLEET"]

[uses]
"host_scope.class" = "hosts are compared within a class where the site names classes"
"library_setting.library" = "a variable that is not set has no row; probe_result tells whether the files were read"
"library_setting.value" = "a variable that is not set has no row; probe_result tells whether the files were read"
"library_setting.precedence" = "a variable that is not set has no row; probe_result tells whether the files were read"

[parameters.least_members]
default = 8
unit = "hosts"
reason = "review G-FLEET: fewer have no reliable majority"

[parameters.least_share]
default = 0.8
unit = "of the hosts of one kind"
reason = "judgement, as for TOP-01: below that they are not one pool, e.g. Slurm nodes and Kubernetes workers"
+++
## Why it matters
All ranks of a job should be set up alike. One host with another NCCL_IB_HCA, GID index or traffic class makes its jobs
fail or crawl, and only those that land on it.

## What to do
Compare /etc/nccl.conf, /etc/environment and /etc/profile.d of the host with a peer's and let the configuration management
write them. New jobs read the files, running ones do not.

## When it is wrong
Hosts of one kind may serve different pools, or be wired differently and need their own device list: name the pools as
classes in the site file. Only the host's configuration files are read, and of each variable the line that wins: what a
job sets itself is not seen, nor what a container brings, as on Kubernetes workers.
*/
with settings as (
    select
        r.target,
        -- Known only if every file was read and every line of NCCL's has a place and a value.
        case when count(*) filter (s.file is not null and (s.precedence is null or s.value is null)) = 0 then concat( -- null: '' = no line
            string_agg(s.name || '=' || s.value, ' ' order by s.name) filter (s.precedence = 1)
        ) end as words
    from probe_result as r
    left join library_setting as s on s.target = r.target and (s.library = 'nccl' or s.name = '')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
),
hosts as (
    -- Where the site names classes, a pool is a kind of one class.
    select h.target, h.kind || concat(' ', h.class) as pool, s.words -- null: a host of no class
    from host_scope as h
    left join settings as s on s.target = h.target
),
pools as (
    select
        pool,
        count(*) as members,
        mode_known(words) as usual,
        count(*) - count(words) as unread,
        list_max(map_values(histogram(words))) as alike -- null: against all members
    from hosts
    group by pool
)
select
    h.target,
    case when h.words = '' then 'nothing' else h.words end as observed,
    case when p.usual = '' then 'nothing' else p.usual end as expected,
    p.members >= $least_members and case
        when p.alike >= $least_share * p.members then true
        -- Not even if all that were not read were like most.
        when p.alike + p.unread < $least_share * p.members then false
    end as applies,
    h.words <> p.usual as fault
from hosts as h
left join pools as p on p.pool = h.pool
