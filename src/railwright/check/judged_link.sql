-- Every link with what is said of its two ends. Tables at hand: link, end_said.
create or replace temp table judged_link as
with joined as (
    select
        l.*,
        list_concat(a.found, b.found) as found, -- skips what is not there
        list_distinct(list_concat(a.unknown, b.unknown)) as unknown
    from link as l
    left join end_said as a on a.target = l.a_target and a.port = l.a_port
    left join end_said as b on b.target = l.b_target and b.port = l.b_port
)

select
    * replace (coalesce(found, []) as found, coalesce(list_sort(unknown), []) as unknown),
    len(unknown) > 0 as is_unknown,
    coalesce(len(found) > 0, false) or is_down or trouble <> '' as is_odd
from joined;
