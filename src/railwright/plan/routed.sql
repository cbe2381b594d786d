-- By which devices packets to an address leave a host. Table at hand: address_bits (an address or the address of a prefix, in bits).
-- Which table is asked depends on marks and protocols too, which nobody knows here: of each that may be asked the longest prefix.
create temp table routed as
with asked as (
    select distinct target, family, routing_table from route where routing_table in ('main', 'default')
    union
    select target, 'inet' as family, routing_table from ip_rule where source = 'all' and action = 'lookup' and routing_table <> 'local'
    union
    -- Rules for IPv6 are not collected.
    select target, family, routing_table from route where family = 'inet6' and routing_table <> 'local'
),

fits as (
    select
        s.target,
        s.address,
        r.netdev,
        case when r.destination = 'default' then 0 else r.prefix_length end as length,
        max(case when r.destination = 'default' then 0 else r.prefix_length end)
            over (partition by s.target, s.address, r.routing_table) as longest
    from sought as s
    inner join address_bits as a on a.text = s.address
    inner join asked as k on k.target = s.target and k.family = a.family
    inner join route as r on r.target = k.target and r.family = k.family and r.routing_table = k.routing_table
    left join address_bits as d on d.text = r.destination
    where
        coalesce(r.type, 'unicast') = 'unicast' -- null: not printed
        and (r.destination = 'default' or starts_with(a.bits, d.bits[:r.prefix_length]))
)

select distinct target, address, netdev
from fits
where length = longest;
