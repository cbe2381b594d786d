-- Makes odd_parameter: of every kind of card what it has otherwise than most of its part number.
create temp table odd_parameter as
with valued as (
    select
        k.part_number,
        k.digest,
        k.cards,
        p.name,
        p.port,
        p.element,
        p.current_text as here,
        -- The number counts, not the label before it (True(0) was seen); arrays have only their text.
        coalesce(p.current_code::varchar, p.current_text) as value
    from kind_parameter as p
    inner join (
        select part_number, digest, sum(len(members)) as cards
        from asked_card
        inner join machine using (target)
        group by part_number, digest
    ) as k on k.digest = p.digest
    where p.current_text is not null
),

counted as (
    select part_number, name, port, element, value, sum(cards) as cards, any_value(here) as here
    from valued
    group by all
),

compared as (
    select
        *,
        sum(cards) over same as total,
        arg_max(here, cards) over same as most,
        max(cards) over same as cards_most
    from counted
    window same as (partition by part_number, name, port, element)
)

select
    v.part_number,
    v.digest,
    v.here,
    parameter(v.name, v.port, v.element) as parameter,
    case when 2 * c.cards_most > c.total then c.most else 'no majority' end as most
from valued as v
inner join (from compared where cards * 2 <= total) as c
    on
        c.part_number = v.part_number
        and c.name = v.name
        and c.port = v.port
        and c.element = v.element
        and c.value = v.value;
