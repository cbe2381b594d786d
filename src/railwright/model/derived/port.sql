-- What each RDMA port is for: from where it sits, as most hosts of its class have it in the same slot; then as this host alone
-- shows it; its state decides only between uses that have no place of their own.
with sign as (
    select p.*, c.class
    from port_sign as p
    left join host_class as c on c.target = p.target
),

by_type as (
    select
        class,
        place,
        port,
        type,
        count(*) as members,
        count(*) filter (position = 'compute') as compute,
        count(*) filter (position = 'other') as other,
        count(*) filter (state_role = 'management') as management,
        count(*) filter (state_role = 'storage') as storage,
        count(*) filter (is_unplugged) as unplugged
    from sign
    group by all
),

-- A card that was replaced by one of another type is for what its slot is for.
by_slot as (
    select class, place, port, sum(members) as members, sum(compute) as compute, sum(other) as other
    from by_type
    group by all
),

-- The same port of several cards of one type in one host: the second ports of all of them may have no cable by design.
by_function as (
    select target, type, right(pci, 1) as function, port, count(*) as members, count(*) filter (is_unplugged) as unplugged
    from sign
    group by all
),

-- Four members or more: three are no group, one of them may be the only one that is right.
positioned as (
    select
        p.*,
        t.members,
        t.management,
        t.storage,
        case
            when t.members >= 4 and 2 * t.compute > t.members then ['compute', t.compute || ' of ' || t.members]
            when t.members >= 4 and 2 * t.other > t.members then ['other', t.other || ' of ' || t.members]
            when s.members >= 4 and 2 * s.compute > s.members then ['compute', s.compute || ' of ' || s.members]
            when s.members >= 4 and 2 * s.other > s.members then ['other', s.other || ' of ' || s.members]
        end as fleet,
        coalesce(fleet[1], p.position) as sits, -- null: the fleet does not tell, the host may
        case
            when t.members >= 4 and 2 * t.unplugged > t.members then 'no cable in this slot of most like hosts'
            when f.members >= 2 and f.unplugged = f.members and (f.function <> '0' or f.port > 1)
                then 'no cable in this port of any card of its type'
        end as uncabled
    from sign as p
    left join by_type as t on t.class = p.class and t.place = p.place and t.port = p.port and t.type = p.type
    left join by_slot as s on s.class = p.class and s.place = p.place and s.port = p.port
    left join by_function as f
        on f.target = p.target and f.type = p.type and f.function = right(p.pci, 1) and f.port = p.port
),

judged as (
    select
        *,
        case
            when uncabled is not null then ['unused', uncabled, 'cabling']
            when sits = 'compute' and position = 'compute' then ['compute', position_reason, 'position']
            when sits = 'compute' then ['compute', 'so in the same slot of ' || fleet[2] || ' like hosts', 'fleet']
            when sits = 'undecided' then [null, position_reason, 'undecided']
            when sits is null then [null, position_reason, '']
            when members >= 4 and 2 * management > members and state_role is distinct from 'management' -- null: fleet tells
                then ['management', 'so in the same slot of ' || management || ' of ' || members || ' like hosts', 'fleet']
            when members >= 4 and 2 * storage > members and state_role is distinct from 'storage' -- null: fleet tells
                then ['storage', 'so in the same slot of ' || storage || ' of ' || members || ' like hosts', 'fleet']
            when state_role is null then [null, state_reason, '']
            when state_role = 'storage' then ['storage', position_reason, 'position']
            else [state_role, state_reason, 'state']
        end as told
    from positioned
),

compute_port as materialized (
    select target, device, port, pci, card, class, place
    from judged
    where told[1] = 'compute' and card is not null
),

-- Rails: the number of a card's slot among the compute slots of its class, so that a card that is missing takes no number.
card_slot as materialized (
    select
        target,
        card,
        any_value(class) as class,
        arg_min(place, pci) as place,
        min(pci) as first_pci,
        count(*) as ports
    from compute_port
    group by target, card
),

-- A million NICs are in few sets of slots: a set is told by a number, and looked up in one host that has it.
host_set as materialized (
    select target, any_value(class) as class, bit_xor(hash(place)) as slots
    from card_slot
    group by target
    having count(place) = count(*) and count(class) = count(*)
),

known_set as (
    select class, slots, min(target) as example, count(*) as hosts from host_set group by class, slots
),

slot_order as (
    select class, place, min(first_pci) as first_pci from card_slot where class is not null and place is not null group by all
),

listed_set as (
    select k.class, k.slots, any_value(k.hosts) as hosts, list(c.place order by o.first_pci, c.place) as places
    from known_set as k
    inner join card_slot as c on c.target = k.example
    inner join slot_order as o on o.class = c.class and o.place = c.place
    group by k.class, k.slots
),

-- Of many different sets the few that most hosts have will do.
common_set as (
    select * from listed_set
    qualify row_number() over (partition by class order by hosts desc, len(places) desc, places) <= 100
),

-- The largest set that has all of a host's slots and is no rarity: one host with a card more moves no number.
whole_set as (
    select class, slots, arg_max(whole, (len(whole), hosts, whole)) as whole
    from (
        select k.class, k.slots, c.places as whole, c.hosts, max(c.hosts) over (partition by k.class, k.slots) as most
        from listed_set as k
        inner join common_set as c on c.class = k.class and list_has_all(c.places, k.places)
    )
    where 4 * hosts >= most
    group by class, slots
),

numbered as (
    select class, slots, unnest(whole) as place, generate_subscripts(whole, 1) - 1 as rail from whole_set
),

-- Without known slots the cards that are there are counted.
counted as (
    select target, card, dense_rank() over (partition by target order by first_pci) - 1 as rail
    from card_slot
    where target not in (select target from host_set)
),

rails as (
    select c.target, c.card, n.rail
    from card_slot as c
    inner join host_set as h on h.target = c.target
    inner join numbered as n on n.class = h.class and n.slots = h.slots and n.place = c.place
    union all
    from counted
),

planes as (
    select p.target, p.device, p.port, row_number() over (partition by p.target, p.card order by p.pci, p.port) - 1 as plane
    from compute_port as p
    inner join card_slot as c on c.target = p.target and c.card = p.card and c.ports > 1
)

select
    j.target,
    j.read_at,
    j.device,
    j.port,
    j.pci,
    j.card,
    j.netdev,
    j.link_layer,
    j.state,
    j.rate_gbps,
    j.rate_dispute,
    j.told[1] as role,
    j.told[2] as role_reason,
    j.told[3] as role_basis,
    case when j.told[1] = 'compute' and j.state_role = 'management' then j.state_reason else '' end as role_dispute,
    r.rail,
    case when r.rail is not null then coalesce(w.plane, 0) end as plane, -- null: the only port of its card
    j.nearest_gpus,
    j.gpu_relation,
    -- A host that lost a card is still of its class.
    j.type || ' ' || j.link_layer || ' ' || j.told[1] || ' of ' || coalesce(j.class, j.kind) as cohort -- null: the next best
from judged as j
left join rails as r on r.target = j.target and r.card = j.card and j.told[1] = 'compute'
left join planes as w on w.target = j.target and w.device = j.device and w.port = j.port
