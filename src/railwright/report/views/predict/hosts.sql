-- Hosts with the same ceiling. Doubles that differ in their last bit alone would be groups of their own.
select round(h.write_gbps, 1), round(h.wire_gbps, 1), h.cards, h.ports, t.status, list(h.target)
from host_ceiling as h
inner join target as t on t.target = h.target
group by all
order by 1 desc nulls last, len(list(h.target)) desc
