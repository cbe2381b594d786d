-- How many links there are, of each sort, and how many ports whose link partner is not known. Tables at hand: judged_link.
select
    count(*) filter (not is_half) as links,
    count(*) filter (not is_unread and not is_half and (peer_kind = 'switch' and a_tier = 0 or role = 'host')) as host,
    count(*) filter (not is_unread and not is_half and role = 'fabric') as fabric,
    count(*) filter (is_unread) as stranger,
    count(*) filter (told_by = 'both') as told_by_both,
    count(*) filter (trouble <> '' and not is_half) as doubtful,
    count(*) filter (is_down) as down,
    count(*) filter (len(found) > 0) as with_findings,
    count(*) filter (is_unknown) as with_unknown,
    count(*) filter (is_half) as half
from judged_link
