-- What differs in the rows of one table, the same change of many hosts as one. Filled in are the table, its key, what of it is
-- compared, and how digests, subjects and probes are told from its rows.
with differing as materialized (
    select target, subject
    from (from before.digest semi join differing_target using (target) where fact_table = {fact_table}) as b
    full join (from now.digest semi join differing_target using (target) where fact_table = {fact_table}) as n using (target, subject)
    where b.digest is distinct from n.digest or b.row_count is distinct from n.row_count
),

was as (
    select t.*, true as here
    from (from before.{table} semi join differing_target using (target)) as t
    semi join differing as d on d.target = t.target and d.subject = {subject}
    semi join answered as a on a.target = t.target and a.probe = {probe} and a.instance in ('', {instance})
),

is_now as (
    select t.*, true as here
    from (from now.{table} semi join differing_target using (target)) as t
    semi join differing as d on d.target = t.target and d.subject = {subject}
    semi join answered as a on a.target = t.target and a.probe = {probe} and a.instance in ('', {instance})
),

joined as (
    select
        {key},
        case when b.here is null then 'appeared' when n.here is null then 'gone' end as whole,
        {cells} as cell
    from was as b
    full join is_now as n using ({key})
    where {differs}
),

told as (
    select
        target,
        {rest_of_key} as what,
        case when whole is null then cell.c else '' end as col,
        coalesce(
            whole,
            case when cell.o is null then 'read now' when cell.n is null then 'not read now' else 'changed' end
        ) as kind,
        case when whole is null then cell.o end as old,
        case when whole is null then cell.n end as new,
        {key}
    from joined
    where whole is not null or cell.o is distinct from cell.n
)

select what, col, kind, old, new, count(distinct row({key}))::bigint as things, list(distinct target order by target) as targets
from told
group by what, col, kind, old, new
order by things desc, what, col, old, new
