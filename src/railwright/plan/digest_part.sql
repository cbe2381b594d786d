insert into digest_part
select target, {part}, md5(string_agg(line, chr(10) order by line))
from (
    select target, to_json(struct_pack({columns}))::varchar as line
    from {table}
    where list_contains($targets, target)
)
group by target
