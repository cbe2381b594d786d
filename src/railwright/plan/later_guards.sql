-- What is only asked of changes that nothing else speaks against: whether they can be written, and whose the value is.
insert into guard by name
select p.setting, p.target, p.subject, min(p.why) as why, min(p.rank) as rank, coalesce(arg_min(p.owner, p.rank), '') as owner -- null: nobody else's
from (
    select p.setting, p.target, p.subject, ? as why, 11 as rank, null as owner
    from picked as p
    inner join written as w
        on w.setting = p.setting and w.write = p.write and w.wanted = p.wanted
        and w.now is not distinct from p.now and w.names is not distinct from p.names -- null: part of the key
    inner join unsafe as u on u.id = w.id
    where p.state = 'change'
    union all
    -- What could not take hold is not written.
    select setting, target, subject, why, 11, null from hold where why <> ''
    union all
    select setting, target, subject, why, 12, owner from owned
    union all
    select u.setting, u.target, u.subject, u.why, 13, null
    from owner_unknown as u
    anti join owned as o on o.setting = u.setting and o.target = u.target and o.subject = u.subject -- null: names are never NULL
) as p
anti join guard as g on g.setting = p.setting and g.target = p.target and g.subject = p.subject -- null: likewise
group by p.setting, p.target, p.subject;
