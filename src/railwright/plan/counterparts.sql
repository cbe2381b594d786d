-- Changes whose link partner would not agree with them afterwards. Tables at hand: change_row (every setting on every subject), family
-- (settings that both ends must agree in), picked, guard, setting_guard.
insert into guard by name
with ends as (
    select
        r.setting, r.target, r.subject, r.state, r.now, r.wanted, r.why, f.family, g.held, g.reach,
        case when r.switch_port is not null then r.switch_port else r.netdev end as port
    from change_row as r
    inner join family as f on r.setting glob f.setting
    inner join setting_guard as g on g.setting = r.setting
),

told as (
    select e.*, p.setting is not null as is_picked, u.why as guarded
    from ends as e
    left join (select distinct setting, target, subject from picked) as p
        on p.setting = e.setting and p.target = e.target and p.subject = e.subject
    left join guard as u on u.setting = e.setting and u.target = e.target and u.subject = e.subject
),

planned as (
    select * from told where state = 'change' and is_picked and guarded is null and held = '' and reach <> 'none'
),

-- By either end: a member of a bond has no end of its own, but the switch has a port in front of it.
partner as (
    select target, port, peer, peer_port, peer_kind, trouble from link_end
    union
    select peer as target, peer_port as port, target as peer, port as peer_port, kind as peer_kind, trouble
    from link_end
    where peer <> '' and peer_port <> '' and (peer, peer_port) not in (select (target, port) from link_end where port is not null) -- null: left out
),

-- A setting of the partner in the same family: whether it is, or will be, such that both fit.
judged as (
    select
        m.setting, m.target, m.subject, m.reach, m.wanted, p.peer, p.peer_port, p.peer_kind, p.trouble, o.subject as other,
        o.now as other_now,
        p.trouble in ('', 'one-sided')
        and (
            o.state = 'leave'
            or (o.state = 'change' and o.is_picked and o.guarded is null and o.held = '')
            or ends_fit(m.family, k.kind, p.peer_kind, m.wanted, o.now)
        ) as fits,
        case
            when o.guarded is not null then o.guarded
            when o.state = 'undecided' then 'neither the site file nor a document says what it is to be'
            when o.state = 'change' and o.is_picked then 'held back, ' || o.held
            when o.state = 'change' then 'this plan leaves it out'
            else o.why
        end as why
    from planned as m
    left join target as k on k.target = m.target
    left join partner as p on p.target = m.target and p.port = m.port
    left join told as o on o.target = p.peer and o.port = p.peer_port and o.family = m.family
)

select
    setting,
    target,
    subject,
    case
        when any_value(peer) is null or any_value(peer) = '' then 'its link partner is unknown: both ends must agree' -- null: no neighbor was read
        when any_known(trouble not in ('', 'one-sided')) then 'its link partner is not certain: both ends must agree' -- null: LLDP that was not read
        when count(other) = 0 then 'its link partner, ' || min(peer || ' ' || peer_port) || ', was not read: both ends must agree'
        else 'its link partner, ' || min(peer || ' ' || peer_port) || ', stays at '
            || case when min(other_now) is null then 'a value that was not read' else min(other_now) end || ': ' || min(why)
    end as why,
    20 as rank,
    '' as owner
from judged
group by setting, target, subject
having
    bool_or(fits) is not true -- null: not known to fit
    and (
        any_value(reach) = 'fabric' -- null: one value for all
        or count(case when not fits then 1 end) > 0 and count(other_now) > 0
    );
