-- Ports of switches that do the same and are of one tier and direction are one row. Tables at hand: class_fact, end_said.

-- First as numbers, for there are hundreds of thousands of ports; in words only one of each kind.
with facts as (
    select
        target,
        port,
        bit_xor(
            hash(
                class,
                queue,
                scheduler,
                weight,
                ecn_enabled,
                ecn_minimum_bytes,
                ecn_maximum_bytes,
                red_enabled,
                pfc,
                is_lossless,
                headroom_bytes
            )
        ) as does
    from port_class
    group by target, port
),

alike as (
    select
        tier,
        facing,
        system,
        trust,
        dscp_classes,
        pfc_mask,
        watchdog_mask,
        mtu,
        speed_mbps,
        fec,
        f.does as kind,
        count(*) as ports,
        min(e.target || ':' || e.port) as example,
        arg_min(e.target, e.target || ':' || e.port) as target,
        arg_min(e.port, e.target || ':' || e.port) as port,
        list(distinct e.target) as switches,
        count(*) filter (len(s.found) > 0) as faulty,
        count(*) filter (len(s.unknown) > 0) as undecided,
        list_distinct(flatten(list([x.rule for x in s.found]))) as rules
    from link_end as e
    left join facts as f using (target, port)
    left join end_said as s using (target, port)
    where e.kind = 'switch' and e.peer <> ''
    group by tier, facing, system, trust, dscp_classes, pfc_mask, watchdog_mask, mtu, speed_mbps, fec, f.does
),

-- What a port does with the classes that matter: those that pause, mark, or go first.
in_words as (
    select
        target,
        port,
        string_agg(
            'class ' || class || ': queue ' || coalesce(queue::varchar, 'not read')
            || coalesce(case scheduler when '' then ' without a scheduler' else ' ' || scheduler end, '')
            || case when weight > 0 then ' ' || weight else '' end
            || case
                when ecn_enabled is null then ', ECN not read'
                when not ecn_enabled then ''
                else
                    ', ECN'
                    || coalesce(printf(' from %,d to %,d', ecn_minimum_bytes, ecn_maximum_bytes), '')
                    || case when red_enabled is false then ' not enabled' else '' end
            end
            || case
                when pfc and is_lossless is false then ', lossy buffer'
                when pfc then coalesce(printf(', headroom %,d', headroom_bytes), '')
                else ''
            end,
            '; ' order by class
        ) filter (pfc or ecn_enabled or scheduler = 'strict') as does
    from class_fact
    inner join alike using (target, port)
    group by target, port
)

select
    tier,
    facing,
    system,
    trust,
    dscp_classes,
    pfc_mask,
    watchdog_mask,
    mtu,
    speed_mbps,
    fec,
    coalesce(c.does, '') as does,
    sum(ports)::bigint,
    min(example),
    list_distinct(flatten(list(switches))),
    sum(faulty)::bigint,
    sum(undecided)::bigint,
    list_sort(list_distinct(flatten(list(rules))))
from alike as a
left join in_words as c using (target, port)
group by tier, facing, system, trust, dscp_classes, pfc_mask, watchdog_mask, mtu, speed_mbps, fec, c.does
order by tier nulls last, facing nulls last, system, sum(ports) desc, min(example)
