-- Only what is found on the machines that were asked for, on links to them, and what explains that. The rules ran over all
-- machines. Tables at hand: finding, placed, asked_target.
create temp table kept as
with recursive kept as (
    select rule, verdict, subject, cause, cause_subject
    from placed
    where target in (from asked_target) or partner in (from asked_target)
    union
    select f.rule, f.verdict, f.subject, f.cause, f.cause_subject
    from kept as k
    inner join finding as f on f.verdict = 'fail' and f.rule = k.cause and f.subject = k.cause_subject
)

select rule, verdict, subject from kept;

delete from finding
where (rule, verdict, subject) not in (from kept);
