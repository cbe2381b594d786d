select p.target, said(m.part_number) as module, said(m.fec) as fec, m.state
from port as p
left join mlxlink_port as m on m.target = p.target and m.pci = p.pci
