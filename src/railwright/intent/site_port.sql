-- The RDMA ports of hosts with the role that they are judged by and the rail that follows from it: the site's word counts before
-- the inferred one. Said here alone, for rules and for every command. Tables at hand: port, declared_role.
create or replace {kind} site_port as
select
    p.* replace (
        case when d.role is not null then d.role else p.role end as role,
        case when d.role is not null then 'the site file says so' else p.role_reason end as role_reason,
        case when d.role is not null then 'site' else p.role_basis end as role_basis,
        case when d.role is not null then '' else p.role_dispute end as role_dispute,
        -- A card that is not for compute has no rail. The others keep their numbers, as where a card is missing.
        case when d.role is null or d.role = 'compute' then p.rail end as rail,
        case when d.role is null or d.role = 'compute' then p.plane end as plane
    ),
    d.role is null as inferred
from port as p
left join declared_role as d on d.target = p.target and d.device = p.device and d.port = p.port;
