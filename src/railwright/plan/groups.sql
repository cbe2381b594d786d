-- The same change on many things is one: where it is, what finds it, how it is written, what must be restarted for it, and what
-- it costs as it is. A finding about several things is shared out; of several findings about one thing the dearest counts.
select row_number() over (order by setting, rank, now, wanted, names::varchar, restart, card, is_late) as number, *
from (
    select
        p.setting,
        case when p.state = 'change' and g.why is not null then 'refused' else p.state end as state,
        case
            when p.state <> 'change' then p.why
            when g.why is not null then g.why
            else p.why
        end as why,
        case when p.state = 'change' and g.owner is not null then g.owner else '' end as owner,
        now,
        wanted,
        by_peers,
        write,
        p.names,
        h.kind as restart,
        h.card,
        l.setting is not null as is_late,
        list(distinct p.target order by p.target) as targets,
        count(*) as subjects,
        list_sort(list_distinct(flatten(list(p.rules)))) as rules,
        min(p.rank) as rank,
        sum(gbps) as gbps
    from (
        select
            setting,
            target,
            subject,
            state,
            why,
            now,
            wanted,
            by_peers,
            write,
            names,
            list(distinct rule) as rules,
            min(rank) as rank,
            max(cost_share) as gbps
        from picked
        group by all
    ) as p
    left join guard as g on g.setting = p.setting and g.target = p.target and g.subject = p.subject
    left join hold as h on h.setting = p.setting and h.target = p.target and h.subject = p.subject
    left join late as l on l.setting = p.setting and l.target = p.target and l.subject = p.subject
    group by all
)
