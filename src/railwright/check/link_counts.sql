-- How many links there are, of each sort. Tables at hand: judged_link.
select
    count(*) as links,
    count(*) filter (peer_kind = 'switch' and a_tier = 0 or role = 'host') as host,
    count(*) filter (role = 'fabric') as fabric,
    count(*) filter (peer_kind = 'stranger') as stranger,
    count(*) filter (told_by = 'both') as told_by_both,
    count(*) filter (trouble <> '') as doubtful,
    count(*) filter (is_down) as down,
    count(*) filter (len(found) > 0) as with_findings,
    count(*) filter (is_unknown) as with_unknown
from judged_link
