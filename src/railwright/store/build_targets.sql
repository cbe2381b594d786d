-- What became of every machine that was asked. Filled in are who was asked, who was heard, how each ended, and the other columns.
select
    everyone.target,
    everyone.kind,
    coalesce(ended.status, case when heard.target is null then 'not collected' else 'incomplete' end) as status,
    everyone.out_of_service,
    {others}
from {everyone} as everyone
left join ({ended}) as ended using (target)
left join ({heard}) as heard using (target)
