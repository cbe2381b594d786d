-- What a setting's SELECT says, with what is to be done on every subject, the way to write it, and what finds it:
-- the names that findings have of the same thing. What was not read is never written, and what nobody says is not guessed.
select
    {setting} as setting,
    target,
    {subject} as subject,
    now::varchar as now,
    wanted::varchar as wanted,
    case
        when refused <> '' then 'refused'
        when wanted is null then 'undecided'
        when now::varchar = wanted::varchar then 'leave'
        when now is null or refused is null or write is null then 'refused'
        else 'change'
    end as state,
    case
        when refused <> '' then refused
        when wanted is null or now::varchar = wanted::varchar then ''
        when now is null then {not_read}
        when write is null then {no_tool}
        when refused is null then {not_clear}
        else ''
    end as why,
    write,
    refused is not null as is_clear,
    false as by_peers,
    {names}::map(varchar, varchar) as names,
    {device}::varchar as device,
    {port}::integer as port,
    {netdev}::varchar as netdev,
    {pci}::varchar as pci,
    {switch_port}::varchar as switch_port
from (
    select
        s.*,
        case {ways} end as write
    from ({rows}) as s
    left join (
        select target as machine, list(distinct probe) as answered
        from probe_result
        where status = 'ok'
        group by target
    ) as p on p.machine = s.target
    left join (select target as machine, max(system) as system from switch group by target) as w on w.machine = s.target
)
