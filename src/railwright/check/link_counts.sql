-- How many links there are, of each sort. Tables at hand: judged_link, target.
with silent as (
    select target from target where status not in ('reached', 'incomplete')
),

links as (
    select *, peer_kind = 'stranger' or a_target in (from silent) or b_target in (from silent) as is_unread
    from judged_link
)

select
    count(*) as links,
    count(*) filter (not is_unread and (peer_kind = 'switch' and a_tier = 0 or role = 'host')) as host,
    count(*) filter (not is_unread and role = 'fabric') as fabric,
    count(*) filter (is_unread) as stranger,
    count(*) filter (told_by = 'both') as told_by_both,
    count(*) filter (trouble <> '') as doubtful,
    count(*) filter (is_down) as down,
    count(*) filter (len(found) > 0) as with_findings,
    count(*) filter (is_unknown) as with_unknown
from links
