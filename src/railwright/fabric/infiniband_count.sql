-- How many InfiniBand ports carry data, or may do so: no command knows what they are connected to.
select count(*)
from site_port
where link_layer = 'InfiniBand' and (role is null or role in ('compute', 'storage'))
