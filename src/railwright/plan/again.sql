-- What runs on a card that is reset, and may be gone afterwards: its value now, unless the plan writes it afterwards anyway.
-- Tables at hand: runtime_row (settings that a reset may lose), planned (what is in the plan).
select
    r.setting,
    case when r.write is null or r.now is null or r.state = 'refused' then null else r.now end as value,
    case
        when r.now is null then 'its value was not read'
        when r.state = 'refused' then r.why
        when r.write is null then 'no tool that could write it answered on the machine'
        else ''
    end as why,
    case when r.write is null or r.now is null or r.state = 'refused' then null else r.write end as write,
    case when r.write is null or r.now is null or r.state = 'refused' then null else r.names end as names,
    list(distinct r.target order by r.target) as targets
from runtime_row as r
inner join card_of as c on c.target = r.target and c.pci = r.pci
inner join (select distinct target, card from planned where restart = 'firmware_reset') as s on s.target = c.target and s.card = c.card
where not exists (from planned as p where p.target = r.target and p.setting = r.setting and p.names = r.names::varchar)
group by all
order by all
