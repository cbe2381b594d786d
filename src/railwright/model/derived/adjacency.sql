-- Neighbors give themselves names, ids and MAC addresses, in full or in part; what they say is matched with the
-- machines of this snapshot. Two ends that name each other settle it, whatever a third one says.
with machine as (
    select target, coalesce(kind, 'host') as kind from target -- null: written before there were switches
),

-- What the operator calls a machine: in full and, where no two share it, by its first label. An IP address has none.
called as (
    select distinct target, lower(split_part(target, '@', -1)) as name from machine
),

by_name as (
    select name, min(target) as target from called group by name having count(*) = 1
),

by_label as (
    select split_part(name, '.', 1) as name, min(target) as target
    from called
    where not regexp_full_match(name, '[0-9.]+|.*:.*')
    group by 1
    having count(distinct target) = 1
),

said as (
    select coalesce(lower(hostname), '') as name, target from host
    union all
    select coalesce(lower(hostname), '') as name, target from switch
),

-- What a machine calls itself: counts only where the operator calls nobody so, and no second one says the same.
self_given as (
    select s.name, min(s.target) as target
    from (
        select said.name, said.target from said
        union
        select split_part(said.name, '.', 1) as name, said.target from said
    ) as s
    anti join by_name as n on n.name = s.name
    anti join by_label as l on l.name = s.name
    where s.name <> ''
    group by s.name
    having count(distinct s.target) = 1
),

by_mac as (
    select mac, min(target) as target
    from (
        select lower(mac) as mac, target from switch
        union all
        select mac, target from own_end
        union all
        select lower(mac) as mac, target from netdev where kind = 'physical'
    )
    where mac <> '' and mac <> '00:00:00:00:00:00'
    group by mac
    having count(distinct target) = 1
),

-- Everything by which a port may be called: its name, its other name, its address.
place as (
    select target, name, rank, min(port) as port
    from (
        select target, port as name, 1 as rank, port from own_end
        union all
        select target, alias as name, 2 as rank, port from own_end
        union all
        select target, mac as name, 3 as rank, port from own_end
        union all
        select target, name, 1 as rank, name as port from netdev where kind = 'physical'
        union all
        select target, lower(mac) as name, 3 as rank, name as port from netdev where kind = 'physical'
    )
    where name <> ''
    group by target, name, rank
    having count(distinct port) = 1 -- all ports of a SONiC switch have one MAC address
),

heard as (
    select row_number() over () as id, *
    from (
        select
            target, netdev as port, lower(system_name) as system_name, lower(chassis_id) as chassis_id,
            case when port_id_type = 'mac' then lower(port_id) else port_id end as port_id, port_description
        from lldp_neighbor
        union all
        select
            target, port, lower(max(system_name)) as system_name, lower(max(chassis_id)) as chassis_id,
            max(port_id) as port_id, max(port_description) as port_description
        from switch_neighbor
        where port <> ''
        group by target, port, place
    )
),

-- Whom it may be. The operator's name for a machine stands before everything that machines say; then what two ends
-- confirm to each other (below); then addresses, and last the name that a machine gives itself.
possible as (
    select id, machine, min(rank) as rank
    from (
        select h.id, n.target as machine, 1 as rank from heard as h inner join by_name as n on n.name = h.system_name
        union all
        select h.id, l.target as machine, 2 as rank from heard as h inner join by_label as l on l.name = split_part(h.system_name, '.', 1)
        union all
        select h.id, c.target as machine, 3 as rank from heard as h inner join by_mac as c on c.mac = h.chassis_id
        union all
        select h.id, p.target as machine, 4 as rank from heard as h inner join by_mac as p on p.mac = h.port_id
        union all
        select h.id, s.target as machine, 5 as rank from heard as h inner join self_given as s on s.name = h.system_name
        union all
        select h.id, s.target as machine, 6 as rank from heard as h inner join self_given as s on s.name = split_part(h.system_name, '.', 1)
    )
    group by id, machine
),

-- Behind an operator's name nobody else is asked for.
candidate as (
    from possible
    qualify rank <= 2 or min(rank) over (partition by id) > 2
),

machines_heard as (
    select
        h.*,
        c.machine,
        c.rank,
        coalesce(nullif(h.system_name, ''), h.chassis_id, '') as says_name,
        coalesce(nullif(h.port_id, ''), h.port_description, '') as says_port
    from heard as h
    left join candidate as c on c.id = h.id
),

votes as (
    select id, machine, port, count(*) as votes, min(rank) as rank
    from (
        select m.id, m.machine, p.port, p.rank from machines_heard as m inner join place as p on p.target = m.machine and p.name = m.port_id
        union all
        select m.id, m.machine, p.port, p.rank + 3 as rank from machines_heard as m inner join place as p on p.target = m.machine and p.name = m.port_description
    )
    group by id, machine, port
),

ports_heard as (
    select id, machine, arg_min(port, row(-votes, rank, port)) as machine_port from votes group by id, machine
),

-- A machine that hears itself (a card whose firmware speaks too) is no neighbor.
itself as (
    select id from machines_heard where machine = target
),

placed as (
    select m.id, m.target, m.port, m.machine, m.rank, p.machine_port, m.says_name, m.says_port
    from machines_heard as m
    left join ports_heard as p on p.id = m.id and p.machine = m.machine
    anti join itself as i on i.id = m.id
),

-- A port id that says nothing to us (a number of the neighbor's own): perhaps the neighbor names this port.
answer as (
    select machine as target, machine_port as port, target as machine, min(port) as machine_port
    from placed
    where machine_port is not null
    group by machine, machine_port, target
    having count(distinct port) = 1
),

named as (
    select
        p.id,
        p.target,
        p.port,
        p.rank,
        -- A name that a machine gives itself counts only where it has the port that is spoken of.
        case
            when p.rank >= 5 and p.machine_port is null and a.machine_port is null then p.says_name
            else coalesce(p.machine, p.says_name)
        end as peer,
        coalesce(p.machine_port, a.machine_port, p.says_port) as peer_port,
        p.machine is not null and (p.rank < 5 or coalesce(p.machine_port, a.machine_port) is not null) as is_known,
        coalesce(p.machine_port, a.machine_port) is not null as is_placed
    from placed as p
    left join answer as a
        on p.machine_port is null and a.target = p.target and a.port = p.port and a.machine = p.machine
),

mutual as (
    select n.*, b.target is not null as is_mutual
    from named as n
    left join (select distinct target, port, peer, peer_port from named where is_placed) as b
        on b.target = n.peer and b.port = n.peer_port and b.peer = n.target and b.peer_port = n.port and n.is_placed
),

-- One machine for each that is heard; a neighbor that is heard twice with the same words is one.
settled as (
    select distinct target, port, peer, peer_port, is_known, is_placed, is_mutual
    from (
        from mutual
        qualify row_number() over (partition by id order by is_mutual desc, rank, is_placed desc, peer, peer_port) = 1
    )
),

picked as (
    select
        *,
        count(*) over (partition by target, port) as named
    from settled
    qualify row_number() over (partition by target, port order by is_mutual desc, is_placed desc, is_known desc, peer, peer_port) = 1
),

claimed as (
    select peer as target, peer_port as port, count(*) as claims, min(row(target, port)) as first
    from settled
    where is_placed
    group by peer, peer_port
),

joined as (
    select
        e.target,
        e.read_at,
        e.port,
        e.kind,
        e.lldp_read,
        p.port is not null as speaks,
        case when p.port is not null then p.peer else (c.first)[1] end as peer,
        case when p.port is not null then p.peer_port else (c.first)[2] end as peer_port,
        p.named,
        p.is_mutual,
        p.is_placed,
        coalesce(c.claims, 0) as claims -- null: nobody names this end
    from own_end as e
    left join picked as p on p.target = e.target and p.port = e.port
    left join claimed as c on c.target = e.target and c.port = e.port
)

select
    j.target,
    j.read_at,
    j.port,
    j.kind,
    case when j.peer is null and j.lldp_read then '' else j.peer end as peer,
    case when j.peer is null and j.lldp_read then '' else j.peer_port end as peer_port,
    case
        when j.peer is null then case when j.lldp_read then '' end
        else coalesce(m.kind, 'stranger') -- null: no machine of this snapshot
    end as peer_kind,
    case
        when j.peer is null then case when j.lldp_read then '' end
        when not j.speaks then 'other end'
        when j.is_mutual then 'both'
        else 'this end'
    end as told_by,
    case
        when j.peer is null then case when j.lldp_read then '' end
        when j.named > 1 or (not j.speaks and j.claims > 1) then 'several'
        when not j.speaks or j.is_mutual then ''
        when j.claims > 0 or o.port is not null then 'contradiction'
        when j.is_placed and e.lldp_read then 'one-sided'
        else ''
    end as trouble
from joined as j
left join machine as m on m.target = j.peer
left join own_end as e on e.target = j.peer and e.port = j.peer_port
left join picked as o on o.target = j.peer and o.port = j.peer_port
