-- What became of every answer: of those that nobody has parsed again it is not known. Filled in are the earlier answers, those
-- parsed again, the probes that were, and the words for the rest.
from {earlier} where probe not in ({parsed})
union all by name
from {again}
union all by name
select * replace (if(status = 'ok', {outdated}, status) as status, if(status = 'ok', {why}, reason) as reason)
from (from {earlier} where probe in ({parsed})) as held
anti join {again} as done using (target, probe, instance)
