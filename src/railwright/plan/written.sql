-- Changes that are written alike, by number; what of them is filled in.
create temp table written as
select row_number() over () as id, *
from (select distinct setting, write, now, wanted, names from picked where state = 'change');

create temp table unsafe (id bigint);

create temp table wrote (id bigint, tool varchar, value varchar, file varchar);
