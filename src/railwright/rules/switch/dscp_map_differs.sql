/* +++
id = "SWQ-02"
title = "A switch puts RoCE data or its notifications into another class"
severity = "high"
subject = "end"
peers = true
needs = ["end_scope.kind", "end_scope.role", "end_scope.dscp_classes", "end_scope.cohort"]
message = "{subject} has {observed}, needed is {expected}"
setting = "switch.dscp_map"
since = "0.3"
sources = [
  "review SWQ-02, G-FABRIC", "Cumulus Linux 5.14, RDMA over Converged Ethernet",
  "judgement: only codepoints that are used are compared, and ports of one system, tier, direction and speed with each other",
]

[uses]
"site.data_dscp" = "26 where the site does not say it: then ports are only compared with each other"
"site.data_priority" = "where nobody says it, ports are compared with each other"
"site.cnp_dscp" = "48 where the site does not say it"
"site.cnp_priority" = "where nobody says it, ports are compared with each other"
"site.trust" = "a site that goes by PCP has no use for the map of DSCP"
"port_class.queue" = "compared where it was read: not every system tells which queue a class leaves through"
"end_scope.inferred" = {purpose = "severity"}

[parameters.data_dscp]
default = 26
unit = "DSCP"
reason = "reference B3: DSCP 26 with ECT(0) is traffic class 106, which public guides use"

[parameters.cnp_dscp]
default = 48
unit = "DSCP"
reason = "reference B1.1: CNP_DSCP 48 is the firmware's default"
+++
## Why it matters
The map from DSCP to class and queue is what makes a packet lossless at this hop. One switch with another map drops RoCE data
in its best-effort queue, or lets notifications wait behind the data they are to slow down; hosts look the same all the while.

## What to do
Give the switch the map of its neighbours (SONiC: `DSCP_TO_TC_MAP` and `TC_TO_QUEUE_MAP`; Cumulus: `nv set qos roce`; EOS: `qos map dscp`;
Onyx: `qos map dscp`). Packets that are under way change their class at once, and may overtake each other.

## When it is wrong
Where the site does not say which priorities it wants, a port is held against those of its kind, if there are four or more
and most agree. Codepoints other than data, notifications and best effort are not compared. Sites that say `trust = "pcp"` are not judged. A port that does not go by DSCP gives them no class.
*/
with used as (
    select
        e.target,
        e.port,
        e.cohort,
        u.name,
        u.dscp,
        u.wanted,
        class_of(e.dscp_classes, u.dscp) as class
    from end_scope as e
    cross join (
        select 'data' as name, coalesce(data_dscp, $data_dscp) as dscp, case when data_dscp is not null then data_priority end as wanted -- null: the usual one, and then nothing is wanted
        from site
        union all
        select 'CNP', coalesce(cnp_dscp, $cnp_dscp), case when cnp_dscp is not null then cnp_priority end from site -- null: the usual one, and then nothing is wanted
        union all
        select 'best effort', 0, null
    ) as u
    where (e.kind = 'switch' or e.kind is null) and (e.role in ('compute', 'fabric') or e.role is null)
),

ways as (
    select
        u.*,
        case u.class when -1 then 'no class' else 'class ' || u.class end as class_words,
        c.queue
    from used as u
    left join port_class as c on c.target = u.target and c.port = u.port and c.class = u.class
),

usual as (
    select
        cohort,
        name,
        usual_of(class) as class,
        usual_of(class || ' ' || queue) as way,
        count(*) >= 4 and count(class) < count(*) as is_open
    from ways
    group by cohort, name
),

judged as (
    select
        w.*,
        w.class <> case when w.wanted is not null then w.wanted else u.class end as is_elsewhere,
        coalesce(w.class || ' ' || w.queue <> u.way, false) as is_queued_elsewhere, -- null: compared where it is told
        case
            when w.wanted is not null then 'class ' || w.wanted
            when u.class = -1 then 'no class'
            else 'class ' || u.class
        end as needed,
        split_part(u.way, ' ', 2) as usual_queue,
        -- Without a wish and without a majority there is nothing to hold it against.
        case when w.wanted is not null or u.class is not null then true when not u.is_open then false end as is_judged
    from ways as w
    left join usual as u on u.cohort = w.cohort and u.name = w.name
),

ends as (
    select
        target,
        port,
        any_known(is_judged) as is_judged,
        any_known(
            case
                when is_judged or class is null then is_elsewhere or is_queued_elsewhere
                when not is_judged then false
            end
        ) as fault,
        string_agg(
            'DSCP ' || dscp || ' (' || name || ') in ' || class_words
                || case when not is_elsewhere then ' and queue ' || queue else '' end, ', ' order by name desc
        ) filter (is_elsewhere or is_queued_elsewhere) as observed,
        string_agg(needed || case when not is_elsewhere then ' and queue ' || usual_queue else '' end, ', ' order by name desc)
            filter (is_elsewhere or is_queued_elsewhere) as expected
    from judged
    group by target, port
)

select
    e.target,
    e.port,
    j.observed,
    j.expected,
    e.kind = 'switch' and e.role in ('compute', 'fabric')
        and (s.trust is null or s.trust <> 'pcp')
        and case when e.dscp_classes is null or e.cohort is null then null else j.is_judged end as applies,
    j.fault,
    e.inferred
from end_scope as e
cross join site as s
left join ends as j on j.target = e.target and j.port = e.port
where e.kind = 'switch' or e.kind is null
