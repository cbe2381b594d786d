/* +++
id = "N-27"
title = "Host calls itself by another machine's name"
severity = "medium"
subject = "host"
peers = true
needs = ["host.hostname"]
message = "{subject} calls itself {observed}, which is {expected}"
implied_by = ["INV-05"]
since = "0.2"
sources = ["judgement: a host name is the image's, and cloned images keep it"]

[uses]
"target.kind" = "only hosts are judged; switches can be the other machine"
"target.status" = "of a machine that did not answer nobody expects a name"
"target.target" = "what the operator calls a machine counts before what machines call themselves"
"switch.hostname" = "switches give themselves names too"
+++
## Why it matters
Whoever hears this host over LLDP, reads its logs or its metrics takes it for the other one. Railwright itself goes by the
operator's names, so the cabling of the other machine stays right; people and other tools may not.

## What to do
If both are one machine (INV-05), mend where the name leads, not the host. Else give the host its own name (`hostnamectl set-hostname`) and restart lldpd, so that its neighbours hear it. A host installed
from another one's image often has more of it: the same machine id, the same ssh host keys.

## When it is wrong
Targets that are addresses or aliases say nothing about host names; then only two machines with one and the same name are
found, and both are named: which of them is right cannot be told.
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

-- Whose name it is: the operator's word first, then whoever else says the same.
other as (
    select
        s.target,
        min(c.target) filter (c.target <> s.target) as named,
        min(o.target) filter (o.target <> s.target) as namesake,
        coalesce(bool_or(c.target = s.target), false) as is_own -- null: nobody is called so
    from said as s
    left join called as c on c.label = s.label
    left join said as o on o.label = s.label and s.label <> 'localhost'
    group by s.target
),

-- A host that answered and did not tell its name may have the same as any other.
everyone as (
    select
        count(*) as machines,
        count(*) filter (t.kind = 'host' and t.status = 'reached' and h.hostname is null) as silent
    from target as t
    left join host as h on h.target = t.target
)

select
    t.target,
    h.hostname as observed,
    coalesce('the name of ' || o.named, 'the name of ' || o.namesake || ' too') as expected, -- null: only other machines say so
    e.machines > 1 as applies,
    case
        when h.hostname is not null then case
            when o.is_own then false
            when o.named is not null or o.namesake is not null then true
            when e.silent = 0 then false
        end
    end as fault
from target as t
cross join everyone as e
left join host as h on h.target = t.target
left join other as o on o.target = t.target
where t.kind = 'host'
