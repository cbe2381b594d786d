-- Parameters that a card shows only once ADVANCED_PCI_SETTINGS counts: wanted, and written blind after the reset for that.
select r.setting, r.wanted, r.write, r.names, c.card, list(distinct r.target order by r.target) as targets
from change_row as r
inner join card_of as c on c.target = r.target and c.pci = r.pci
inner join planned as p
    on p.target = c.target and p.card = c.card and p.setting = 'nic.parameter.ADVANCED_PCI_SETTINGS' and p.restart = 'firmware_reset'
where r.why = 'the card does not show it' and r.wanted is not null and r.write is not null
group by all
order by all
