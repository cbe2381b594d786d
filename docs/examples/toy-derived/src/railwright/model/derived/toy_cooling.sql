-- min() skips NULL: a fan that was not read might be the slowest.
select
    target,
    max(read_at) as read_at,
    count(*) as fans,
    case when count(speed_rpm) = count(*) then min(speed_rpm) end as slowest_rpm
from toy_fan
group by target
