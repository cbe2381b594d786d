-- What there was to judge, as one row.
select
    count(*) filter (kind = 'host' and out_of_service = '') as hosts,
    -- One machine that answers under two names was judged once.
    count(*) filter (kind = 'host' and out_of_service = '' and status = 'reached')
    - (
        select count(h.boot_id) - count(distinct h.boot_id)
        from host as h
        semi join target as t
            on t.target = h.target and t.status = 'reached' and t.kind = 'host' and t.out_of_service = ''
        where h.boot_id <> ''
    ) as reached,
    count(*) filter (kind = 'switch' and out_of_service = '') as switches,
    count(*) filter (kind = 'switch' and out_of_service = '' and status = 'reached') as talked,
    count(*) filter (out_of_service <> '') as away,
    -- Also machines that the site has and the snapshot does not: a rule is unknown about each.
    (select count(distinct target) from verdict where reason = 'not_collected') as not_asked
from target
