/* +++
id = "hostname-of-another"
aliases = ["N-27"]
title = "Hostname belongs to another machine"
severity = "medium"
subject = "host"
peers = true
action = "ask"
setting = "host.hostname"
needs = ["host.hostname"]
message = "{subject} has {observed}; expected {expected}"
implied_by = ["machine-twice"]
since = "0.2"
sources = ["judgement: a host name is the image's, and cloned images keep it"]

[uses]
"target.kind" = "only hosts are judged; switches can be the other machine"
"target.status" = "a machine that did not answer is not expected to have a name"
"target.target" = "the operator's name of a machine takes precedence over what machines call themselves"
"switch.hostname" = "switches give themselves names too"
+++
## Why it matters
In LLDP, logs and metrics this host is mistaken for the other machine. Railwright itself uses the operator's names, so the
cabling of the other machine stays correct; people and other tools may be misled.

## What to do
If both are one machine (`machine-twice`), correct where the name leads, not the host. Otherwise give the host its own name
(`hostnamectl set-hostname`) and restart lldpd so that its LLDP neighbors see it. A host installed from another host's image
often shares more than the name: the same machine ID, the same SSH host keys.

## Exceptions
Targets given as addresses or aliases say nothing about hostnames. Then only two machines with the same hostname are found,
and both are reported: which of them is right cannot be determined.
*/
with called as (
    select target, split_part(lower(split_part(target, '@', -1)), '.', 1) as label
    from target
    where not regexp_full_match(target, '(.*@)?([0-9.]+|.*:.*)')
),

said as (
    select target, split_part(lower(hostname), '.', 1) as label from host where hostname <> '' and hostname <> '(none)'
    union
    select target, split_part(lower(hostname), '.', 1) as label from switch where hostname <> ''
),

-- Whose name it is: the operator's word first, then any other machine with the same name.
other as (
    select
        s.target,
        min(c.target) filter (c.target <> s.target) as named,
        min(o.target) filter (o.target <> s.target) as namesake,
        coalesce(bool_or(c.target = s.target), false) as is_own -- null: no machine has that name
    from said as s
    left join called as c on c.label = s.label
    left join said as o on o.label = s.label and s.label <> 'localhost'
    group by s.target
),

-- A host that answered without its name may have the same name as any other.
everyone as (
    select
        count(*) as machines,
        count(*) filter (t.kind = 'host' and t.status = 'reached' and h.hostname is null) as silent
    from target as t
    left join host as h on h.target = t.target
)

select
    t.target,
    case
        when h.hostname is null then null
        when o.is_own then 'its own hostname'
        when o.named is not null then 'the hostname of another machine'
        when o.namesake is not null then 'the same hostname as another machine'
        else 'its own hostname'
    end as observed,
    'its own hostname' as expected,
    e.machines > 1 as applies,
    case
        when h.hostname is not null then case
            when o.is_own then false
            when o.named is not null or o.namesake is not null then true
            when e.silent = 0 then false
        end
    end as fault,
    h.hostname || case
        when o.is_own then ''
        when o.named is not null then ', the name of ' || o.named
        when o.namesake is not null then ', also that of ' || o.namesake
        else ''
    end as detail
from target as t
cross join everyone as e
left join host as h on h.target = t.target
left join other as o on o.target = t.target
where t.kind = 'host'
