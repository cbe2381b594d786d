-- Hosts that nothing but their slots can place: without a model, or without a GPU left.
select key, gpu, slots, list(target order by target)
from (
    select h.target, h.key, h.gpu, list_sort(list(s.slot_by_bus) filter (s.slot_by_bus is not null)) as slots
    from class_host as h
    left join card as s on s.target = h.target and s.kind in ('nic', 'gpu')
    where (h.key = '' and h.gpu is not null) or (h.key <> '' and h.gpu = '')
    group by all
)
group by all
