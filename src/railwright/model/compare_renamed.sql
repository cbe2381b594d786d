-- Devices that have another name now. Where there is one, digests by name say nothing: all of that machine's rows are compared.
create temp table renamed as
select b.target, b.kind, b.identity as thing, b.name as old, n.name as new
from named as b
inner join named as n on n.target = b.target and n.kind = b.kind and n.identity = b.identity
where b.side = 'before' and n.side = 'now' and b.name <> n.name
