-- Firmware parameters that change at the next reset.
select
    pci,
    name
    || case port when 0 then '' else '_P' || port end
    || case element when -1 then '' else '[' || element || ']' end,
    current_text,
    next_text
from nic_parameter
where target = $target and coalesce(current_code <> next_code, current_text <> next_text)
order by all
