-- Of each switch the ports of the route with the longest prefix, of whichever table; of two alike that of the default one. The
-- address is a number, as IPv4 has them.
select target, ports
from (
    select
        target,
        vrf,
        ports,
        try_cast(split_part(split_part(prefix, '/', 1), '.', 1) as utinyint)::bigint * 16777216
        + try_cast(split_part(split_part(prefix, '/', 1), '.', 2) as utinyint)::bigint * 65536
        + try_cast(split_part(split_part(prefix, '/', 1), '.', 3) as utinyint)::bigint * 256
        + try_cast(split_part(split_part(prefix, '/', 1), '.', 4) as utinyint)::bigint as network,
        least(try_cast(split_part(prefix, '/', 2) as utinyint), 32) as length
    from switch_route
    where target in (select unnest($switches::varchar[])) and prefix not like '%:%'
)
where (network >> (32 - length)) = ($address::bigint >> (32 - length))
qualify row_number() over (partition by target order by length desc, vrf = 'default' desc, vrf) = 1
