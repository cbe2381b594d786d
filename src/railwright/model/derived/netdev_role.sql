with of_port as (
    select target, netdev, any_value(role) as role, any_value(role_reason) as role_reason, any_value(device) as device
    from port
    where netdev <> ''
    group by all
),

-- What leaves by a device leaves by all that it lies on.
default_route as (
    select target, netdev from route where destination = 'default' and routing_table = 'main'
    union
    select r.target, s.below
    from route as r
    inner join netdev_stack as s on s.target = r.target and s.netdev = r.netdev
    where r.destination = 'default' and r.routing_table = 'main'
),

routes_read as (
    select distinct target from probe_result where probe = 'ip_route' and status = 'ok'
)

select
    n.target,
    n.read_at,
    n.name as netdev,
    case
        when p.netdev is not null then p.role
        when r.netdev is not null then 'management'
        when n.kind = 'virtual' then 'virtual'
        when n.operstate = 'down' then 'unused'
        when rr.target is not null and n.operstate = 'up' then 'management'
    end as role,
    case
        when p.netdev is not null then p.role_reason
        when r.netdev is not null then 'the default route goes through it'
        when n.kind = 'virtual' then 'no device behind it'
        when n.operstate = 'down' then 'down'
        when rr.target is not null and n.operstate = 'up' then 'up, and no RDMA port'
        else 'its state or the routes were not read'
    end as role_reason,
    case when p.netdev is not null then p.device else '' end as device
from netdev as n
-- A member is for what its bond is for.
left join of_port as p on p.target = n.target and p.netdev in (n.name, nullif(n.master, ''))
left join default_route as r on r.target = n.target and r.netdev = n.name
left join routes_read as rr on rr.target = n.target
