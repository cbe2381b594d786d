-- What no option overrides: changes that could cut the way to a machine, or take away what it runs from. Of several reasons the
-- first by rank is told. Tables at hand: those of the other files of this folder.
create temp table guard as
with found as (
    select t.setting, t.target, t.subject, case when d.netdev = k.netdev then 1 else 2 end as rank,
        case
            when k.what = 'never' then k.why
            when d.netdev <> k.netdev or d.netdev is null then k.netdev || case when d.stops = 'card' then ' is on the same card: ' else ' goes with it: ' end || k.why
            when k.what = 'way' then 'it is on the way to the machine: ' || k.why
            else 'storage goes over it: ' || k.why
        end as why
    from touched_netdev as t
    inner join touched as d on d.setting = t.setting and d.target = t.target and d.subject = t.subject
    inner join kept_way as k on k.target = t.target and k.netdev = t.netdev
    where d.stops in ('link', 'card') or k.what = 'never'

    union all

    -- A switch port in front of such an interface.
    select t.setting, t.target, t.subject, 3,
        case when t.is_whole then 'it reaches every port of the switch, and ' || f.port || ' has ' else 'its link partner is ' end
        || f.peer || ' ' || f.peer_port || case f.what when 'way' then ', on the way to its machine: ' when 'storage' then ', and storage goes over that: ' else ': ' end
        || f.why
    from touched as t
    inner join front as f on f.target = t.target and (t.is_whole or f.port = t.port)
    where t.kind = 'switch' and t.stops in ('link', 'card', 'switch')

    union all

    select t.setting, t.target, t.subject, 4,
        case when t.is_whole then 'it reaches every port of the switch, and ' || s.port else 'it' end
        || ' may be on the way to the switch itself: ' || s.why || '; if the switch has a second way in, the site file has to say so ([[way_in]])'
    from touched as t
    inner join switch_kept as s on s.target = t.target and (t.is_whole or s.port = t.port)
    where t.kind = 'switch' and t.stops in ('link', 'card', 'switch')

    union all

    select t.setting, t.target, t.subject, 5, 'the way to ' || c.whose || ' may go on over it'
    from touched as t
    inner join carrier as c on c.target = t.target and (t.is_whole or c.port = t.port)
    where t.kind = 'switch' and t.stops in ('link', 'card', 'switch')

    union all

    select t.setting, t.target, t.subject, 6, u.why
    from touched as t
    inner join switch_unknown as u on u.target = t.target
    where t.kind = 'switch' and t.stops in ('link', 'card', 'switch')

    union all

    -- Only the very interface that the site file gives up may be changed where the way is unknown.
    select t.setting, t.target, t.subject, 6, u.why
    from touched as t
    inner join way_unknown as u on u.target = t.target
    left join second_way as s on s.target = t.target and list_contains(s.netdevs, t.netdev)
    where t.stops in ('link', 'card') and (s.target is null or t.stops = 'card')

    union all

    select t.setting, t.target, t.subject, 7, u.why
    from touched as t
    inner join storage_unknown as u on u.target = t.target
    where t.stops in ('link', 'card') and t.kind = 'host' and u.netdev is null

    union all

    select t.setting, t.target, t.subject, 7, u.why || ', and ' || u.netdev || ' may be for storage'
    from touched_netdev as t
    inner join touched as d on d.setting = t.setting and d.target = t.target and d.subject = t.subject and d.stops in ('link', 'card')
    inner join storage_unknown as u on u.target = t.target and u.netdev = t.netdev

    union all

    select setting, target, subject, 8, why from card_guard

    union all

    select t.setting, t.target, t.subject, 9,
        'the ' || t.kind || ' goes out of service, and the site file declares no second way to it ([[way_in]])'
    from touched as t
    where t.stops in ('host', 'switch') and t.target not in (select target from second_way)

    union all

    -- It counts for all interfaces, and answers for an address of another interface stop with it.
    select t.setting, t.target, t.subject, 10,
        'the ssh session came to an address of ' || a.netdev || ', and packets leave by ' || r.netdev || ': set it per interface by hand'
    from picked as t
    inner join ssh_session as s on s.target = t.target
    inner join ssh_route as r on r.target = t.target and r.netdev <> '' and r.type <> 'local'
    inner join address as a on a.target = t.target and a.address = s.server and a.netdev <> r.netdev
    where t.setting in ('host.arp_policy', 'host.rp_filter') and t.state = 'change'
)

select setting, target, subject, arg_min(why, (rank, why)) as why, min(rank) as rank, ''::varchar as owner
from found
group by setting, target, subject;
