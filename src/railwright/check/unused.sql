-- Waivers that cover nothing of what was judged. Where the rule could not tell on such a machine, the finding may be there: such
-- a waiver is not called unused. Tables at hand: waiver, verdict, target, is_covered (findings.sql).
with judged as (
    select w.number, w.verdict, w.rule, w.target, w.prefix
    from waiver as w
    where not w.is_expired and w.fact = '' and (w.rule in (select unnest($rules)) or (w.rule = '*' and $all_rules))
),

met as (
    select distinct j.number
    from judged as j
    inner join verdict as v
        on j.rule in (v.rule, '*') and j.target in (v.target, '*') and v.verdict in (j.verdict, 'unknown')
    where
        is_covered(j.target, j.prefix, v.target, v.subject)
        or (v.verdict = 'unknown' and j.verdict = 'fail' and v.subject = v.target || ':*')
)

select
    j.number,
    bool_or(j.target = '*' or j.target in (select target from target)) as is_here
from judged as j
where j.number not in (from met)
group by j.number
order by j.number
