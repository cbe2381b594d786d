select p.target, case when m.part_number_state = 'none' then '-' else m.part_number end as module, said(m.fec) as fec, m.state
from port as p
left join ({modules}) as m on m.target = p.target and m.pci = p.pci
