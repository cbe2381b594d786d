-- Hosts of one class whose names differ, where their parts do too: classes of their own.
update found_class
set class = class || ', named ' || pattern, reason = reason || '; named ' || pattern, members = m.n
from (select class as c, pattern as p, count(*)::integer as n from found_class group by all) as m
where m.c = class and m.p = pattern and class = $class and list_contains($patterns, pattern)
