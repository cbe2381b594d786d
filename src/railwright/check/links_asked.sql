-- The links that are asked for, those with findings first. Tables at hand: judged_link.
select
    a_target || ':' || a_port,
    case when is_half then '' else b_target || ':' || b_port end,
    coalesce(a_tier::varchar, '?') || '-' || coalesce(b_tier::varchar, '?'),
    speed_mbps,
    told_by,
    is_down,
    case when is_half then 'link partner unknown' else coalesce(trouble, '') end,
    is_unread,
    is_unknown,
    found,
    unknown
from judged_link
where
    (
        $hosts is null
        or list_contains($hosts::varchar[], a_target)
        or list_contains($hosts::varchar[], b_target)
    )
    and (
        $role = ''
        or $role = case when role = 'fabric' then 'fabric' when a_tier = 0 or role = 'host' then 'host' end
    )
    and (is_odd or not $only_odd)
order by len(found) = 0, not is_odd, a_tier, a_target, length(a_port), a_port
