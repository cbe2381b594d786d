-- The machine of this name, or those that call themselves so; two are one too many.
select
    target,
    status,
    coalesce(words, ''),
    out_of_service,
    epoch(started),
    attempts,
    noise_bytes,
    coalesce(noise, ''),
    root,
    kind
from target
where
    target = $name
    or starts_with(target, $name || '.')
    or target in (select target from host where hostname = $name)
order by target <> $name
limit 2
