-- What no setting of the plan is about, and where it is.
select
    rule,
    severity,
    list(distinct target order by target) as targets,
    count(*) as subjects,
    list(place order by place) as places
from (
    select distinct
        rule,
        severity,
        rank,
        target,
        subject || case when link_partner is null then '' else ', other end ' || link_partner end as place
    from asked
    where (rule, subject) not in (select (rule, found_at) from picked)
)
group by rule, severity, rank
order by rank, rule
