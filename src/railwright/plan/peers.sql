-- Where nobody says what a value is to be: what its peers have, if at least eight others of the cohort were read and four in five
-- of all of them, read or not, have the same (judgement: as for the rules that compare ports). What waits for a reset and firmware
-- images are no values.
create temp table peer_value as
with known as (
    select r.setting, r.target, r.subject, r.now, p.cohort
    from change_row as r
    inner join (
        select target, cohort, netdev, device, pci from port_scope where cohort is not null
    ) as p on p.target = r.target and case
        when r.netdev is not null then p.netdev = r.netdev
        when r.device is not null then p.device = r.device
        else p.pci = r.pci
    end
    where not r.setting in ('nic.reset', 'nic.firmware')
    union
    select r.setting, r.target, r.subject, r.now, e.cohort
    from change_row as r
    inner join end_scope as e on e.target = r.target and e.port = r.switch_port
    where e.cohort is not null
),

counted as (
    select setting, cohort, now as value, count(*) as members, sum(count(*)) over (partition by setting, cohort) as peers
    from known
    group by setting, cohort, now
)

select k.setting, k.target, k.subject, min(c.value) as value
from known as k
inner join counted as c on c.setting = k.setting and c.cohort = k.cohort
where
    c.value is not null
    -- The subject itself is no peer of its own.
    and c.members - (k.now is not distinct from c.value)::integer >= 8 -- null: a value that was not read is another one
    and (c.members - (k.now is not distinct from c.value)::integer) >= 0.8 * (c.peers - 1) -- null: as above
group by k.setting, k.target, k.subject;

update change_row as r
set
    wanted = p.value,
    by_peers = true,
    state = case
        when r.now = p.value then 'leave'
        when r.now is null or r.write is null or not r.is_clear then 'refused'
        else 'change'
    end,
    why = case
        when r.now = p.value then ''
        when r.now is null then $not_read
        when r.write is null then $no_tool
        when not r.is_clear then $not_clear
        else ''
    end
from peer_value as p
where p.setting = r.setting and p.target = r.target and p.subject = r.subject and r.state = 'undecided';
