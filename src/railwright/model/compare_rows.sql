-- What differs in the rows of one table. Filled in are the table, what tells its rows apart, what of it is compared, and how digests,
-- things and probes are told from its rows. A row that is in one only counts where the other could have told it.
insert into change
with differing as materialized (
    select target, subject
    from (from before.digest semi join differing_target using (target) where fact_table = {fact_table}) as b
    full join (from now.digest semi join differing_target using (target) where fact_table = {fact_table}) as n using (target, subject)
    where b.digest is distinct from n.digest or b.row_count is distinct from n.row_count
),

was as (
    select
        t.*,
        true as here_,
        coalesce(m.identity, {thing}, '') as thing_,
        coalesce(o.identity, {other}, '') as other_,
        {rest} as rest_,
        {probe} as probe_,
        {spoken}
        row_number() over (partition by t.target, probe_, thing_, other_, rest_ order by {order}) as number_
    from (from before.{table} semi join differing_target using (target)) as t
    left join named as m on m.side = 'before' and m.kind = {kind} and m.target = t.target and m.name = {thing}
    left join named as o on o.side = 'before' and o.kind = {kind} and o.target = t.target and o.name = {other}
    where
        exists (from differing as d where d.target = t.target and d.subject = {subject})
        or t.target in (select target from renamed)
),

is_now as (
    select
        t.*,
        true as here_,
        coalesce(m.identity, {thing}, '') as thing_,
        coalesce(o.identity, {other}, '') as other_,
        {rest} as rest_,
        {probe} as probe_,
        {spoken}
        row_number() over (partition by t.target, probe_, thing_, other_, rest_ order by {order}) as number_
    from (from now.{table} semi join differing_target using (target)) as t
    left join named as m on m.side = 'now' and m.kind = {kind} and m.target = t.target and m.name = {thing}
    left join named as o on o.side = 'now' and o.kind = {kind} and o.target = t.target and o.name = {other}
    where
        exists (from differing as d where d.target = t.target and d.subject = {subject})
        or t.target in (select target from renamed)
),

joined as (
    select
        target,
        thing_,
        other_,
        rest_,
        number_,
        probe_,
        case when b.here_ is null then 'appeared' when n.here_ is null then 'gone' end as whole,
        {cells} as cell
    from was as b
    full join is_now as n using (target, probe_, thing_, other_, rest_, number_)
    where {differs}
),

told as (
    select
        * exclude (cell, whole),
        case when whole is null then cell.c else '' end as col,
        coalesce(
            whole,
            case when cell.o is null then 'known now' when cell.n is null then 'unknown now' else 'changed' end
        ) as kind,
        case when whole is null then cell.o end as old,
        case when whole is null then cell.n end as new
    from joined
    where whole is not null or cell.o is distinct from cell.n
),

-- How the other snapshot answered, where a row is missing in it.
answered as (
    select
        t.*,
        case
            when t.kind not in ('appeared', 'gone') then true
            when {is_switch} then exists (from same_answers as s where s.target = t.target and s.probe = t.probe_)
            else coalesce(one.ok, each_one.ok)
        end as is_answered
    from told as t
    left join answer as one on one.side = case t.kind when 'gone' then 'now' else 'before' end
        and one.target = t.target and one.probe = t.probe_ and one.thing = ''
    left join answer as each_one on each_one.side = case t.kind when 'gone' then 'now' else 'before' end
        and each_one.target = t.target and each_one.probe = t.probe_ and each_one.thing = t.thing_ and t.thing_ <> ''
)

select distinct
    target, {fact_table}, probe_, thing_, other_, rest_, number_, col,
    case when is_answered is null then kind || ', not asked' else kind end,
    old, new
from answered
where is_answered is distinct from false
