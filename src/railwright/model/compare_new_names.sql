-- A device that has another name now.
insert into change
select target, 'name', '', thing, '', '', 1, kind, 'changed', old, new
from renamed
where kind <> 'gpu'
