-- Whom the routes of every switch send to. The ports of a leaf's routes are a long text, and the same one for all of them:
-- grouped once. Filled in are the prefixes by number, and route_hops.sql.
with way as materialized (
    select r.target, r.ports, row_number() over () as way, list(n.number) as numbers
    from switch_route as r
    inner join ({prefixes}) as n on n.name = r.vrf || ' ' || r.prefix
    group by r.target, r.ports
),

hop as (
    select w.way, list(distinct h.peer) as peers
    from (select target, way, unnest(string_split(ports, ',')) as port from way) as w
    inner join ({hops}) as h on h.target = w.target and h.port = w.port
    group by w.way
)

select w.target, h.peers, w.numbers
from way as w
left join hop as h on h.way = w.way
