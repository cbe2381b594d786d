-- The same for numbers with many values: three significant digits in 16 bits, from 1e-30 on; web/src/columns.ts turns them back.
with parts as (
    select
        idx,
        none,
        value,
        floor(log10(case when value > 0 then value end)) as power,
        round(value / pow(10, power - 2)) as digits
    from page_value
)

select
    list(
        coalesce(
            case
                when v.value is null then null
                when v.value = 0 or v.power < -30 then 2
                when v.digits >= 1000 then least(3 + (v.power + 31) * 900, 65535)
                else least(3 + (v.power + 30) * 900 + v.digits - 100, 65535)
            end,
            v.none::integer,
            0
        )::integer order by p.idx
    ),
    count(v.value),
    count(*) filter (v.value is null and v.none)
from page_port as p
left join parts as v on v.idx = p.idx
