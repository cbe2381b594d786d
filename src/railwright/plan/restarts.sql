-- What must be restarted for the changes of a plan to count: a card's firmware, once, or the host. Tables at hand: picked (the
-- changes), setting_guard (each setting: what it stops, when it counts, what it is lost at), card_reset (nic.reset's SELECT).

create temp table card_of as
select n.target, n.pci, case when c.card is null then n.pci else c.card end as card
from nic_scope as n
left join (select target, pci, min(card) as card from port_scope group by all) as c on c.target = n.target and c.pci = n.pci;

create temp table needs_restart as
select distinct p.setting, p.target, p.subject, p.names, g.takes_hold, c.card
from picked as p
inner join setting_guard as g on g.setting = p.setting and g.takes_hold in ('firmware_reset', 'reboot', 'power_cycle')
left join card_of as c on c.target = p.target and c.pci = p.pci
where p.state = 'change';

-- Of a card everything that waits takes hold with its reset, so nothing may wait that nobody wants. What only a reboot resets
-- waits for that. Where the BMC keeps the card powered (DGX, HGX B200, GB200) a reboot is not enough (incident I-119, I-121).
create temp table hold as
select
    n.setting,
    n.target,
    n.subject,
    n.card,
    case
        when n.takes_hold <> 'firmware_reset' then n.takes_hold
        when r.blocked like 'reset level 3 is not offered%' or r.blocked like 'cards with a PCIe switch%' then 'reboot'
        else n.takes_hold
    end as kind,
    case
        when n.takes_hold <> 'firmware_reset' or n.setting = 'nic.reset' then ''
        when kind = 'reboot' and n.target not in (select target from second_way)
            then 'only a reboot applies it, and the site file declares no second way to the host ([[way_in]])'
        when r.target is null then 'its card is not one for compute, and no reset of it is planned'
        when r.blocked like 'reset level 3 is not offered%' or r.blocked like 'cards with a PCIe switch%' then ''
        when r.blocked <> '' then 'it could not take hold: ' || r.blocked
        when r.blocked is null then 'whether its card can be reset is not known'
        when r.unwanted is null then 'whether something else waits on its card is not known'
        when len(list_filter(r.unwanted, lambda one: not list_contains(w.planned, one))) > 0
            then 'a reset would apply what waits there too, and the site file does not want: '
                || array_to_string(list_filter(r.unwanted, lambda one: not list_contains(w.planned, one)), ', ')
        else ''
    end as why
from needs_restart as n
left join card_reset as r on r.target = n.target and r.pci = n.card
left join (
    select target, card, list(distinct names['parameter']) as planned
    from needs_restart
    group by target, card
) as w on w.target = n.target and w.card = n.card;

-- What is lost by it is written afterwards, not before. A firmware reset loads the driver again.
create temp table late as
select distinct p.setting, p.target, p.subject
from picked as p
inner join setting_guard as g on g.setting = p.setting
inner join hold as h on h.target = p.target and h.why = ''
left join card_of as c on c.target = p.target and c.pci = p.pci
where
    p.state = 'change'
    and case
        when h.kind = 'firmware_reset' then h.card = c.card and list_has_any(g.lost_at, ['firmware_reset', 'driver'])
        else list_has_any(g.lost_at, ['reboot', 'driver'])
    end;
