select target, md5(string_agg(part || ' ' || digest, chr(10) order by part))
from digest_part
group by target
order by target
