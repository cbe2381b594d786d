-- Addresses that somebody must be reached at, and the prefixes that may lead there.
create temp table sought as
select distinct target, server as address from mount where rests_on = 'network' and server <> ''
union
select target, client from ssh_session;

create temp table address_text as
select address as text from sought
union
select r.destination
from route as r
where
    r.destination <> 'default'
    -- What is behind a switch may be any host.
    and (r.target in (select target from touched) or exists (from touched where kind = 'switch'))
union
select r.prefix
from switch_route as r
inner join (select distinct target from touched where kind = 'switch') as t on t.target = r.target;
