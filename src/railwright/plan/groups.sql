-- The same change on many things is one: where it is, what finds it, and how it is written.
select
    p.setting,
    case when p.state = 'change' and g.why is not null then 'refused' else p.state end as state,
    case when p.state = 'change' and g.why is not null then g.why else p.why end as why,
    now,
    wanted,
    write,
    names,
    list(distinct p.target order by p.target) as targets,
    count(distinct p.subject) as subjects,
    list(distinct rule order by rule) as rules,
    min(rank) as rank
from picked as p
left join guard as g on g.setting = p.setting and g.target = p.target and g.subject = p.subject
group by all
order by p.setting, rank, p.now, p.wanted
