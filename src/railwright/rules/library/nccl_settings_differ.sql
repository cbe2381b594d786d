/* +++
id = "nccl-settings-differ"
aliases = ["N-20"]
title = "NCCL settings deviate from peers"
severity = "medium"
subject = "host"
peers = true
needs = ["probe_result.status", "host_scope.kind"]
message = "{subject} sets {observed}; its peers {expected}"
action = "set"
setting = "library.setting"
preview = true
since = "0.2"
sources = ["review N-20", "review G-FLEET"]

[uses]
"host_scope.class" = "hosts are compared within a class if the site file defines classes"
"library_setting.library" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.value" = "an unset variable has no row; probe_result shows whether the files were read"
"library_setting.precedence" = "an unset variable has no row; probe_result shows whether the files were read"

[parameters.least_members]
default = 8
unit = "hosts"
reason = "review G-FLEET: fewer have no reliable majority"

[parameters.least_share]
default = 0.8
unit = "of the hosts of one kind"
reason = "judgement, as for cable-wrong-rail: below that they are not one pool, e.g. Slurm nodes and Kubernetes workers"
+++
## Why it matters
All ranks of a job should have the same settings. One host with a different NCCL_IB_HCA, GID index or traffic class makes
jobs fail or crawl, but only those that land on it.

## What to do
Compare /etc/nccl.conf, /etc/environment and /etc/profile.d on the host with those of a peer, and let configuration
management write them. New jobs read the files; running jobs do not.

## Exceptions
Hosts of one kind may serve different pools, or be wired differently and need their own device list: define the pools as
classes in the site file. Only the host's configuration files are read, and of each variable only the line that takes
effect. Values that a job sets itself, or that a container brings, as on Kubernetes workers, are not seen.
*/
with settings as (
    select
        r.target,
        -- Known only if every file was read and every NCCL line has a place and a value.
        case when count(*) filter (s.file is not null and (s.precedence is null or s.value is null)) = 0 then concat( -- null: '' = no line
            string_agg(s.name || '=' || s.value, ' ' order by s.name) filter (s.precedence = 1)
        ) end as words
    from probe_result as r
    left join library_setting as s on s.target = r.target and (s.library = 'nccl' or s.name = '')
    where r.probe = 'libraries' and r.status in ('ok', 'absent')
    group by r.target
),
hosts as (
    -- If the site file defines classes, a pool is the hosts of one kind in one class.
    select h.target, h.kind || concat(' ', h.class) as pool, s.words -- null: a host without a class
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
        -- Not even if all hosts that were not read matched the majority.
        when p.alike + p.unread < $least_share * p.members then false
    end as applies,
    h.words <> p.usual as fault
from hosts as h
left join pools as p on p.pool = h.pool
