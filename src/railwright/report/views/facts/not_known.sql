-- Of every machine: NULL where all is known, '' where it is known to have no such thing, else why not. Only what finds the
-- things can make a host unknown as a whole; what tells more about them matters on hosts that have some.
with lacking as (
    select
        target,
        list_contains($finders::varchar[], probe) as finds,
        probe || ' ' || status as why,
        case when status not in ('not asked', 'not reached') then status end as status
    from silent
    where list_contains($finders::varchar[] || $tellers::varchar[], probe)
),

reason as (
    select
        target,
        min(why) filter (not finds) as teller,
        bool_or(status is not null) as answered,
        min(why) filter (finds and status is distinct from 'absent') as finder
    from lacking
    group by target
),

seen as (
    select target, bool_or(has_holes) as has_holes
    from shown
    group by target
),

judged as (
    select
        t.target,
        t.members,
        t.members_key,
        case
            when seen.has_holes then coalesce(reason.teller, 'values not read')
            when seen.target is not null then null
            when t.status <> 'reached' and reason.answered is not true
                then case t.out_of_service when '' then 'not reached' else 'out of service' end
            when len($finders::varchar[]) = 0 then 'not told'
            else coalesce(reason.finder, '')
        end as why
    from machine as t
    left join reason using (target)
    left join seen using (target)
)

select why, list(target), row(sum(len(members)), bit_xor(members_key))
from judged
where why is not null
group by why
order by sum(len(members)) desc, why
