-- Every link with what is said of its two ends. Tables at hand: link, end_said, target.
--
-- A link for data whose far end was not read is not known whole. A switch port without a link partner is nothing to look at
-- unless something is found there: most are empty.
create or replace temp table judged_link as
with silent as (
    select target from target where status not in ('reached', 'incomplete')
),

-- Nobody needs to know of those whether they are in order.
excluded as (
    select target from target where out_of_service <> ''
),

joined as (
    select
        l.*,
        list_concat(a.found, b.found) as found, -- skips what is not there
        list_distinct(list_concat(a.unknown, b.unknown)) as unknown,
        not l.is_half and (l.peer_kind = 'stranger' or l.a_target in (from silent) or l.b_target in (from silent)) as is_unread,
        l.a_target not in (from excluded) and l.b_target not in (from excluded)
        and coalesce(l.role, '') not in ('management', 'unused', 'other') as is_asked
    from link as l
    left join end_said as a on a.target = l.a_target and a.port = l.a_port
    left join end_said as b on b.target = l.b_target and b.port = l.b_port
)

select
    * replace (coalesce(found, []) as found, coalesce(list_sort(unknown), []) as unknown),
    coalesce(len(unknown) > 0, false) or (is_asked and (is_half or is_unread)) as is_unknown,
    coalesce(len(found) > 0, false) or is_down or coalesce(trouble, '') <> '' or is_half as is_odd
from joined
where not is_half or (a_tier = 0 and is_asked) or coalesce(len(found) > 0, false);
